package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/seed-299c1d6b/snowkey/core"
)

// A refusal is an answer that is none: a status, and every fault that was found.
type refusal struct {
	status int
	faults []core.FieldError
}

func (e *refusal) Error() string {
	return fmt.Sprintf("%d: %v", e.status, e.faults)
}

func refuse(status int, field, value, reason string) *refusal {
	return &refusal{status, []core.FieldError{{Field: field, Value: value, Reason: reason}}}
}

type faultBody struct {
	Field  string `json:"field"`
	Value  string `json:"value"`
	Reason string `json:"reason"`
}

type errorBody struct {
	Error struct {
		Message string      `json:"message"`
		Faults  []faultBody `json:"faults"`
	} `json:"error"`
}

// longest is how much of a value an error quotes.
const longest = 100

func shorten(s string) string {
	if len(s) <= longest {
		return s
	}
	cut := longest
	for cut > 0 && s[cut]&0xc0 == 0x80 { // not within a character
		cut--
	}
	return s[:cut] + "…"
}

func quote(v any) string { return shorten(fmt.Sprint(v)) }

// fail answers with what went wrong.
func (s *server) fail(w http.ResponseWriter, r *http.Request, err error) {
	var refused *refusal
	if !errors.As(err, &refused) {
		s.logger.Error("a request failed", "method", r.Method, "path", r.URL.Path, "error", err)
		refused = refuse(http.StatusInternalServerError, "request", r.URL.Path, "the server failed; its log says why")
	}
	writeFaults(w, r, refused)
}

func writeFaults(w http.ResponseWriter, r *http.Request, e *refusal) {
	var body errorBody
	for i, f := range e.faults {
		f.Value = shorten(f.Value)
		body.Error.Faults = append(body.Error.Faults, faultBody(f))
		if i == 0 {
			body.Error.Message = told(f)
		}
	}
	if more := len(e.faults) - 1; more > 0 {
		body.Error.Message += fmt.Sprintf("; and %d more", more)
	}
	w.Header().Set("Cache-Control", "no-store")
	if e.status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	_ = writeJSON(w, r, e.status, body) // who does not take it asks again
}

// told is a fault in one line.
func told(f core.FieldError) string {
	if f.Value == "" { // there is nothing to quote
		return f.Field + ": " + f.Reason
	}
	return f.String()
}

func (s *server) write(w http.ResponseWriter, r *http.Request, status int, body any) {
	if err := writeJSON(w, r, status, body); err != nil {
		s.logger.Debug("an answer was not taken", "path", r.URL.Path, "error", err)
	}
}

// writeJSON leaves < and > as they are: the type says that it is no page.
func writeJSON(w http.ResponseWriter, r *http.Request, status int, body any) error {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(body); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(text.Len()))
	w.WriteHeader(status)
	if r.Method == http.MethodHead {
		return nil
	}
	_, err := w.Write(text.Bytes())
	return err
}
