package main

import (
	"cmp"
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// problem is an error as a client gets it: application/problem+json of RFC 9457.
type problem struct {
	Title  string  `json:"title"`
	Status int     `json:"status"`
	Detail string  `json:"detail,omitempty"`
	Errors []fault `json:"errors,omitempty"`
}

// fault is what is wrong with one field of the input.
type fault struct {
	Field  string `json:"field"`
	Value  string `json:"value"`
	Reason string `json:"reason"`
}

func (p *problem) Error() string { return p.Detail }

// newProblem returns a problem, whose detail is by default what is wrong with the fields.
func newProblem(status int, detail string, faults ...fault) *problem {
	var reasons []string
	for i, f := range faults {
		faults[i].Value = short(f.Value)
		reasons = append(reasons, fmt.Sprintf("%s %q: %s", f.Field, faults[i].Value, f.Reason))
	}
	return &problem{Title: http.StatusText(status), Status: status, Detail: cmp.Or(detail, strings.Join(reasons, "; ")), Errors: faults}
}

// bad is for a request that is malformed, invalid for one whose values are wrong.
func bad(f fault) *problem { return newProblem(http.StatusBadRequest, "", f) }

func invalid(faults ...fault) *problem {
	return newProblem(http.StatusUnprocessableEntity, "", faults...)
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
		return newProblem(http.StatusRequestEntityTooLarge, "the body is longer than 64 KiB")
	case errors.Is(err, sqltype.ErrOutcomeUnknown):
		return unavailable("whether the order was stored is not known yet: ask for the Location, or repeat the request under its Idempotency-Key")
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
	return newProblem(http.StatusServiceUnavailable, detail)
}

// isShutdown reports whether the server is ending or starting, or SQLite is locked for too long.
func isShutdown(err error) bool {
	var state interface{ SQLState() string } // of PostgreSQL
	return errors.As(err, &state) && strings.HasPrefix(state.SQLState(), "57P") || strings.Contains(err.Error(), "SQLITE_BUSY")
}

// writeProblem answers with p.
func writeProblem(w http.ResponseWriter, p *problem) {
	if p.Status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "2")
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p) // has strings and numbers only; who has gone gets no answer
}
