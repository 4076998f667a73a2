package main

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// page is one page of a list. Next is the address of the following one, empty on the last.
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
	}
	return write(w, http.StatusOK, answer)
}

func (s *service) get(w http.ResponseWriter, r *http.Request) error {
	id, err := pathKey(r)
	if err != nil {
		return err
	}
	o, err := s.orders.get(r.Context(), id)
	if err != nil {
		return err
	}
	return write(w, http.StatusOK, o)
}

func (s *service) create(w http.ResponseWriter, r *http.Request) error {
	key := r.Header.Get("Idempotency-Key")
	if len(key) > 255 {
		return bad(fault{"Idempotency-Key", key, "want at most 255 characters"})
	}
	var d draft
	if err := readJSON(w, r, &d); err != nil {
		return err
	}
	if err := d.check(); err != nil {
		return err
	}
	o, replayed, err := s.orders.create(r.Context(), d, key)
	if err == nil || errors.Is(err, sqltype.ErrOutcomeUnknown) {
		w.Header().Set("Location", path(o.ID))
	}
	if err != nil {
		return err
	}
	if replayed {
		w.Header().Set("Idempotency-Replayed", "true")
	}
	return write(w, http.StatusCreated, o)
}

func (s *service) remove(w http.ResponseWriter, r *http.Request) error {
	id, err := pathKey(r)
	if err != nil {
		return err
	}
	if err := s.orders.remove(r.Context(), id); err != nil {
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

func path(id sqltype.Key[Order]) string { return "/orders/" + id.String() }

// write sends JSON.
func write(w http.ResponseWriter, status int, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body) // who has gone gets no answer
	return nil
}
