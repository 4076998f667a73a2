package main

import (
	"context"
	"database/sql/driver"
	"errors"
	"github.com/seed-299c1d6b/snowkey/sqltype"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/core"
)

// problem is an error as a client gets it: application/problem+json of RFC 9457.
type problem struct {
	Title  string  `json:"title"`
	Status int     `json:"status"`
	Detail string  `json:"detail,omitempty"`
	Errors []fault `json:"errors,omitempty"`

	header map[string]string
}

// fault is what is wrong with one field of the input.
type fault struct {
	Field  string `json:"field"`
	Value  string `json:"value"`
	Reason string `json:"reason"`
}

func (p *problem) Error() string { return p.Detail }

func newProblem(status int, detail string, faults ...fault) *problem {
	for i := range faults {
		faults[i].Value = short(faults[i].Value)
	}
	return &problem{Title: http.StatusText(status), Status: status, Detail: detail, Errors: faults}
}

// with adds a header of the answer.
func (p *problem) with(key, value string) *problem {
	if p.header == nil {
		p.header = map[string]string{}
	}
	p.header[key] = value
	return p
}

// bad is for a request that is malformed, invalid for one whose values are wrong.
func bad(f fault) *problem { return newProblem(http.StatusBadRequest, reasons(f), f) }

func invalid(faults ...fault) *problem {
	return newProblem(http.StatusUnprocessableEntity, reasons(faults...), faults...)
}

func reasons(faults ...fault) string {
	all := make([]string, len(faults))
	for i, f := range faults {
		all[i] = f.Field + " " + quoted(f.Value) + ": " + f.Reason
	}
	return strings.Join(all, "; ")
}

// short cuts a value to 60 characters.
func short(value string) string {
	const most = 60
	value = strings.ToValidUTF8(value, "\ufffd")
	if runes := []rune(value); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return value
}

func quoted(value string) string { return strconv.Quote(short(value)) }

// problemOf is the answer to an error. The text of an unexpected one is only logged.
func problemOf(err error) *problem {
	var p *problem
	var tooLarge *http.MaxBytesError
	var clock *core.ClockError
	var network net.Error
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, &tooLarge):
		return newProblem(http.StatusRequestEntityTooLarge, "the body is longer than 64 KiB").with("Connection", "close")
	case errors.Is(err, gorm.ErrRecordNotFound):
		return newProblem(http.StatusNotFound, "there is no such order")
	case errors.Is(err, core.ErrFenced), errors.Is(err, core.ErrSequenceExhausted), errors.Is(err, core.ErrLost), errors.Is(err, core.ErrClosed), errors.As(err, &clock):
		return unavailable("no id can be issued at the moment; nothing was written")
	case errors.As(err, &network), errors.Is(err, driver.ErrBadConn), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, context.DeadlineExceeded), isShutdown(err):
		return unavailable("the database does not answer at the moment")
	}
	return newProblem(http.StatusInternalServerError, "something went wrong; the log has the reason")
}

func unavailable(detail string) *problem {
	return newProblem(http.StatusServiceUnavailable, detail).with("Retry-After", "2")
}

// isShutdown reports whether the server is ending or starting, or SQLite is locked for too long.
func isShutdown(err error) bool {
	var state interface{ SQLState() string } // of PostgreSQL
	return errors.As(err, &state) && strings.HasPrefix(state.SQLState(), "57P") || strings.Contains(err.Error(), "SQLITE_BUSY")
}

// writeProblem answers with p.
func writeProblem(w http.ResponseWriter, p *problem) {
	for key, value := range p.header {
		w.Header().Set(key, value)
	}
	w.Header().Del("ETag")
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(p.Status)
	body, _ := encode(p) // has strings and numbers only
	_, _ = w.Write(body)
}

// unknown adds to an error of COMMIT the key of the order, with which the client can ask later
// whether it was stored.
func unknown(err error, o *Order) error {
	if o == nil || !errors.Is(err, sqltype.ErrOutcomeUnknown) {
		return err
	}
	p := unavailable("whether the order was stored is not known yet: ask for " + path(o.ID) + ", or repeat the request under its Idempotency-Key")
	return p.with("Location", path(o.ID))
}
