package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

// A refusal is an error response: a status and all errors in the input.
type refusal struct {
	status int
	errs   []core.FieldError
	retry  time.Duration // with 429 and 503: a repetition before this has passed is useless
}

func (e *refusal) Error() string { return fmt.Sprintf("%d: %v", e.status, e.errs) }

func refuse(status int, field, value, reason string) *refusal {
	return &refusal{status: status, errs: []core.FieldError{{Field: field, Value: value, Reason: reason}}}
}

// after sets when a repetition may succeed.
func (e *refusal) after(d time.Duration) *refusal {
	e.retry = d
	return e
}

type fieldBody struct {
	Field  string `json:"field"`
	Value  string `json:"value"`
	Reason string `json:"reason"`
}

type errorBody struct {
	Error struct {
		Message string      `json:"message"`
		Fields  []fieldBody `json:"fields"`
	} `json:"error"`
}

// longest bounds what an error quotes of a value.
const longest = 100

func shorten(s string) string {
	if len(s) <= longest {
		return s
	}
	cut := longest
	for cut > 0 && s[cut]&0xc0 == 0x80 { // not inside a character
		cut--
	}
	return s[:cut] + "…"
}

func quote(v any) string { return shorten(fmt.Sprint(v)) }

// fail answers with an error.
func (s *server) fail(w http.ResponseWriter, r *http.Request, err error) {
	var refused *refusal
	if !errors.As(err, &refused) {
		s.logger.Error("a request failed", "method", r.Method, "path", r.URL.Path, "error", err)
		refused = internalError(r)
	}
	writeErrors(w, r, refused)
}

func internalError(r *http.Request) *refusal {
	return refuse(http.StatusInternalServerError, "request", r.URL.Path, "internal error; see the server's log")
}

func writeErrors(w http.ResponseWriter, r *http.Request, e *refusal) {
	var body errorBody
	for i, f := range e.errs {
		f.Value = shorten(f.Value)
		body.Error.Fields = append(body.Error.Fields, fieldBody(f))
		if i == 0 {
			body.Error.Message = message(f)
		}
	}
	if more := len(e.errs) - 1; more > 0 {
		body.Error.Message += fmt.Sprintf("; and %d more", more)
	}
	w.Header().Set("Cache-Control", "no-store")
	if e.status == http.StatusServiceUnavailable || e.status == http.StatusTooManyRequests {
		seconds := max(1, (e.retry+time.Second-1)/time.Second) // whole ones, never too early
		w.Header().Set("Retry-After", strconv.FormatInt(int64(seconds), 10))
	}
	writeJSON(w, r, e.status, body)
}

// message formats an error in one line.
func message(f core.FieldError) string {
	if f.Value == "" { // nothing to quote
		return f.Field + ": " + f.Reason
	}
	return f.String()
}

// writeJSON does not escape < and >: the media type is not HTML. A client that misses
// the response asks again.
func writeJSON(w http.ResponseWriter, r *http.Request, status int, body any) {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(body) // all bodies can be encoded
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(text.Len()))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(text.Bytes())
	}
}
