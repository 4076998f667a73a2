package main

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// An order goes its whole way: placed, read, ordered again, deleted.
func TestLife(t *testing.T) {
	t.Parallel()
	onEvery(t, func(t *testing.T, dsn string) {
		c := serve(t, dsn)
		made := c.send("POST", "/orders", tea)
		o := made.order(t, http.StatusCreated)
		at := "/orders/" + o.ID
		if made.header.Get("Location") != at || made.header.Get("Content-Type") != "application/json" {
			t.Errorf("headers %v", made.header)
		}
		if len(o.Lines) != 2 || o.Lines[0].SKU != "tea" || o.Lines[1].OrderID != o.ID || o.TotalCents != 2199 {
			t.Errorf("%+v", o)
		}
		ids := stored(t, c.svc)
		for _, id := range []string{o.ID, o.Lines[0].ID, o.Lines[1].ID} {
			if !ids[id] {
				t.Errorf("%q is not in the database", id)
			}
		}
		if !strings.HasPrefix(o.ID, "ord_") || !strings.HasPrefix(o.Lines[0].ID, "line_") {
			t.Errorf("%+v", o)
		}
		if placed, err := time.Parse(time.RFC3339, o.PlacedAt); err != nil || time.Since(placed).Abs() > time.Minute {
			t.Errorf("placed at %q", o.PlacedAt)
		}
		got := c.send("GET", at, "")
		if got.status != http.StatusOK || got.body != made.body {
			t.Errorf("GET gave %+v, POST had given %s", got, made.body)
		}
		// An id that a client sends back arrives as it was.
		again := c.send("POST", "/orders", strings.Replace(tea, "{", `{"reorderOf":"`+o.ID+`",`, 1)).order(t, http.StatusCreated)
		if again.ReorderOf != o.ID || c.send("GET", "/orders/"+again.ID, "").order(t, http.StatusOK).ReorderOf != o.ID {
			t.Errorf("ordered again from %s: %+v", o.ID, again)
		}

		if gone := c.send("DELETE", at, ""); gone.status != http.StatusNoContent || gone.body != "" {
			t.Errorf("DELETE gave %+v", gone)
		}
		for _, a := range []answer{c.send("GET", at, ""), c.send("DELETE", at, "")} {
			if a.status != http.StatusNotFound {
				t.Errorf("after DELETE: %+v", a)
			}
		}
		if left := stored(t, c.svc); left[o.ID] || left[o.Lines[0].ID] || len(left) != 3 {
			t.Errorf("%d rows are left", len(left))
		}
	})
}

// Repeated under its key an order is placed once, also when all come at once.
func TestIdempotency(t *testing.T) {
	t.Parallel()
	onEvery(t, func(t *testing.T, dsn string) {
		c := serve(t, dsn)
		var done sync.WaitGroup
		answers := make(chan answer, 8)
		for range 8 {
			done.Go(func() { answers <- c.send("POST", "/orders", tea, "Idempotency-Key: one") })
		}
		done.Wait()
		close(answers)
		var id string
		for a := range answers {
			o := a.order(t, http.StatusCreated)
			if id != "" && o.ID != id {
				t.Errorf("two orders, %s and %s", id, o.ID)
			}
			id = o.ID
		}
		if n := len(stored(t, c.svc)); n != 3 {
			t.Errorf("%d rows, want 3", n)
		}
		spaced := strings.ReplaceAll(tea, `:`, ` : `)
		again := c.send("POST", "/orders", spaced, "Idempotency-Key: one")
		if o := again.order(t, http.StatusCreated); o.ID != id || again.header.Get("Idempotency-Replayed") != "true" || again.header.Get("Location") != "/orders/"+id {
			t.Errorf("%+v", again)
		}
		other := c.send("POST", "/orders", strings.Replace(tea, "Ada", "Eve", 1), "Idempotency-Key: one")
		if other.status != http.StatusUnprocessableEntity {
			t.Errorf("another order under the key: %+v", other)
		}
		checkProblem(t, other)
		if o := c.send("POST", "/orders", tea, "Idempotency-Key: One").order(t, http.StatusCreated); o.ID == id {
			t.Error("one and One are one key")
		}
		// A late repetition does not place a deleted order again.
		c.send("DELETE", "/orders/"+id, "")
		if a := c.send("POST", "/orders", tea, "Idempotency-Key: one"); a.status != http.StatusGone {
			t.Errorf("after DELETE: %+v", a)
		}
		// Keys are forgotten by the time in the ids of their orders.
		if err := c.svc.orders.forget(t.Context(), time.Now().Add(-time.Minute)); err != nil {
			t.Fatal(err)
		}
		if a := c.send("POST", "/orders", tea, "Idempotency-Key: one"); a.status != http.StatusGone {
			t.Errorf("forgotten too early: %+v", a)
		}
		if err := c.svc.orders.forget(t.Context(), time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		if o := c.send("POST", "/orders", tea, "Idempotency-Key: one").order(t, http.StatusCreated); o.ID == id {
			t.Error("not forgotten")
		}
	})
}

// Pages are ranges of ids, so what is added or deleted meanwhile moves no order from one page to
// another. from and to are bounds of ids, too.
func TestPages(t *testing.T) {
	t.Parallel()
	onEvery(t, func(t *testing.T, dsn string) {
		c := serve(t, dsn)
		var all []order
		for range 7 {
			all = append([]order{c.send("POST", "/orders", tea).order(t, http.StatusCreated)}, all...)
		}
		first, next := c.list("/orders?limit=3")
		c.send("POST", "/orders", tea)
		c.send("DELETE", "/orders/"+all[1].ID, "")
		second, next := c.list(next)
		third, end := c.list(next)
		var got []string
		for _, o := range append(append(first, second...), third...) {
			got = append(got, o.ID)
		}
		var want []string
		for _, o := range all {
			want = append(want, o.ID)
		}
		if !slices.Equal(got, want) || end != "" {
			t.Errorf("%q, %q\nwant %q", got, end, want)
		}
		// All orders may have the same millisecond: ids that begin ahead of the clock keep their first time until it catches up.
		last, err := time.Parse(time.RFC3339, all[0].PlacedAt)
		if err != nil {
			t.Fatal(err)
		}
		after := last.Add(time.Millisecond).Format(time.RFC3339Nano)
		for _, x := range []struct{ from, to, has, lacks string }{
			{all[6].PlacedAt, after, all[6].ID, ""},
			{all[6].PlacedAt, after, all[0].ID, ""},
			{all[6].PlacedAt, all[0].PlacedAt, "", all[0].ID},
			{after, "2040-01-01T00:00:00Z", "", all[0].ID},
		} {
			query := url.Values{"from": {x.from}, "to": {x.to}, "limit": {"100"}}
			between, _ := c.list("/orders?" + query.Encode())
			has := func(id string) bool {
				return slices.ContainsFunc(between, func(o order) bool { return o.ID == id })
			}
			if x.has != "" && !has(x.has) || x.lacks != "" && has(x.lacks) {
				t.Errorf("%+v: %+v", x, between)
			}
		}
	})
}
