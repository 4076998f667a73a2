package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// failing is a source of ids that has none.
type failing struct{ err error }

func (f failing) Next(context.Context) (int64, error) { return 0, f.err }
func (f failing) Fill(context.Context, []int64) error { return f.err }

// Without an id nothing is written, the answer says when to try again, and reading works.
func TestNoIDs(t *testing.T) {
	t.Parallel()
	c := serve(t, sqliteDSN(t))
	at := "/orders/" + c.send("POST", "/orders", tea).order(t, http.StatusCreated).ID
	good := c.svc.orders
	for _, err := range []error{
		core.ErrFenced, core.ErrSequenceExhausted, core.ErrLost, core.ErrClosed,
		&core.ClockError{Back: time.Hour}, context.DeadlineExceeded, sqltype.ErrOutcomeUnknown,
	} {
		store, errStore := newStore(t.Context(), good.db.Dialector, failing{fmt.Errorf("wrapped: %w", err)}, good.layout)
		if errStore != nil {
			t.Fatal(errStore)
		}
		c.svc.orders = store
		for _, headers := range [][]string{nil, {"Idempotency-Key: k"}} {
			a := c.send("POST", "/orders", tea, headers...)
			if checkProblem(t, a); a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") == "" {
				t.Errorf("%v: %+v", err, a)
			}
		}
		if a := c.send("GET", at, ""); a.status != http.StatusOK {
			t.Errorf("%v: reading gave %+v", err, a)
		}
	}
	c.svc.orders = good
	if n := len(stored(t, c.svc)); n != 3 {
		t.Errorf("%d rows, want 3", n)
	}
	// The real one, after its worker ID was released.
	if err := c.svc.gen.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if a := c.send("POST", "/orders", tea); a.status != http.StatusServiceUnavailable {
		t.Errorf("without a number: %+v", a)
	}
}

// A database that dies and comes back costs answers of 503, no order and no id.
func TestDatabaseDies(t *testing.T) {
	t.Parallel()
	server := testserver.NewPostgres(t)
	c := serve(t, server.DSN)
	at := "/orders/" + c.send("POST", "/orders", tea).order(t, http.StatusCreated).ID
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	for _, a := range []answer{c.send("GET", at, ""), c.send("GET", "/orders", ""), c.send("POST", "/orders", tea, "Idempotency-Key: k"),
		c.send("DELETE", at, ""), c.send("GET", "/healthz", "")} {
		if checkProblem(t, a); a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") == "" || strings.Contains(a.body, "127.0.0.1") {
			t.Errorf("%+v", a)
		}
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "healthy", func() bool { return c.send("GET", "/healthz", "").status == http.StatusNoContent })
	// The lease may not have been renewed yet, where the outage was long.
	until(t, "an order is taken", func() bool {
		return c.send("POST", "/orders", tea, "Idempotency-Key: k").status == http.StatusCreated
	})
	c.send("POST", "/orders", tea, "Idempotency-Key: k").order(t, http.StatusCreated)
	if n := len(stored(t, c.svc)); n != 6 {
		t.Errorf("%d rows, want 6", n)
	}
}

// No inner error reaches a client.
func TestInnerError(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	svc := &service{log: slog.New(slog.NewTextHandler(&log, nil))}
	w := httptest.NewRecorder()
	svc.answer(func(http.ResponseWriter, *http.Request) error { return errors.New("secret") }).
		ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	a := answer{w.Code, w.Header(), w.Body.String()}
	if checkProblem(t, a); a.status != http.StatusInternalServerError || strings.Contains(a.body, "secret") || !strings.Contains(log.String(), "secret") {
		t.Errorf("%+v, log %s", a, log.String())
	}
}
