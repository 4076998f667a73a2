package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// page is one page of a list. Next is the address of the following one, empty on
// the last.
type page struct {
	Orders []Order `json:"orders"`
	Next   string  `json:"next,omitempty"`
}

func (s *service) list(w http.ResponseWriter, r *http.Request) error {
	asked, values, err := readSpan(s.orders.layout, r.URL.RawQuery)
	if err != nil {
		return err
	}
	orders, more, err := s.orders.list(r.Context(), asked)
	if err != nil {
		return err
	}
	answer := page{Orders: orders}
	if more {
		values.Set("after", orders[len(orders)-1].ID.String())
		values.Set("limit", strconv.Itoa(asked.limit))
		answer.Next = "/orders?" + values.Encode()
		w.Header().Set("Link", "<"+answer.Next+`>; rel="next"`)
	}
	body, err := encode(answer)
	if err != nil {
		return err
	}
	return write(w, r, http.StatusOK, `"`+digest(body)[:32]+`"`, body)
}

func (s *service) get(w http.ResponseWriter, r *http.Request) error {
	o, err := s.named(r)
	if err != nil {
		return err
	}
	return writeOrder(w, r, http.StatusOK, o)
}

func (s *service) create(w http.ResponseWriter, r *http.Request) error {
	key, err := idempotencyKey(r)
	if err != nil {
		return err
	}
	var d draft
	if err := readJSON(w, r, &d); err != nil {
		return err
	}
	if err := d.check(); err != nil {
		return err
	}
	o, replayed, err := s.orders.create(r.Context(), d, key)
	if err != nil {
		return unknown(err, o)
	}
	if replayed {
		w.Header().Set("Idempotency-Replayed", "true")
	}
	w.Header().Set("Location", path(o.ID))
	return writeOrder(w, r, http.StatusCreated, o)
}

func (s *service) patch(w http.ResponseWriter, r *http.Request) error {
	o, err := s.named(r)
	if err != nil {
		return err
	}
	if err := precondition(r, o); err != nil {
		return err
	}
	var c change
	if err := readJSON(w, r, &c); err != nil {
		return err
	}
	if c.Note == nil {
		return invalid(fault{"note", "", "is missing, and nothing else can be changed"})
	}
	if wrong := checkText(*c.Note, 0, maxNote); wrong != "" {
		return invalid(fault{"note", *c.Note, wrong})
	}
	if err := s.orders.annotate(r.Context(), o, *c.Note); err != nil {
		return err
	}
	return writeOrder(w, r, http.StatusOK, o)
}

func (s *service) remove(w http.ResponseWriter, r *http.Request) error {
	o, err := s.named(r)
	if err != nil {
		return err
	}
	if err := precondition(r, o); err != nil {
		return err
	}
	if err := s.orders.remove(r.Context(), o); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// health says whether this process should get requests.
func (s *service) health(w http.ResponseWriter, r *http.Request) error {
	if err := s.rows.PingContext(r.Context()); err != nil {
		return unavailable("the database does not answer at the moment")
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// named reads the order that the path names.
func (s *service) named(r *http.Request) (*Order, error) {
	id, err := pathKey[Order](r)
	if err != nil {
		return nil, err
	}
	return s.orders.get(r.Context(), id)
}

func path(id sqltype.Key[Order]) string { return "/orders/" + id.String() }

func writeOrder(w http.ResponseWriter, r *http.Request, status int, o *Order) error {
	body, err := encode(o)
	if err != nil {
		return err
	}
	return write(w, r, status, etag(o), body)
}

// encode leaves & and < as they are, so that an address can be read and copied.
func encode(v any) ([]byte, error) {
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return body.Bytes(), err
}

// write sends JSON with its validator, or 304 if the client has it already.
func write(w http.ResponseWriter, r *http.Request, status int, tag string, body []byte) error {
	header := w.Header()
	header.Set("ETag", tag)
	header.Set("Cache-Control", "no-cache") // it may be kept, and must be asked about
	if (r.Method == http.MethodGet || r.Method == http.MethodHead) && matches(r.Header.Get("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	header.Set("Content-Type", "application/json")
	header.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // who has gone gets no answer
	return nil
}
