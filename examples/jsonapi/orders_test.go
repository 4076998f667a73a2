package main

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// An order goes its whole way: placed, read, changed, ordered again, deleted.
func TestLife(t *testing.T) {
	t.Parallel()
	onEvery(t, func(t *testing.T, dsn string) {
		c := serve(t, dsn)
		made := c.send("POST", "/orders", tea)
		o := made.order(t, http.StatusCreated)
		at := "/orders/" + o.ID
		if made.header.Get("Location") != at || made.header.Get("ETag") != `"v1"` || made.header.Get("Content-Type") != "application/json" {
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
		if got.status != http.StatusOK || got.body != made.body || got.header.Get("ETag") != `"v1"` {
			t.Errorf("GET gave %+v, POST had given %s", got, made.body)
		}
		if head := c.send("HEAD", at, ""); head.status != http.StatusOK || head.body != "" || head.header.Get("Content-Length") != strconv.Itoa(len(got.body)) {
			t.Errorf("HEAD gave %+v", head)
		}

		changed := c.send("PATCH", at, `{"note":"with milk 🥛"}`, `If-Match: "v1"`)
		if n := changed.order(t, http.StatusOK); n.Note != "with milk 🥛" || changed.header.Get("ETag") != `"v2"` {
			t.Errorf("PATCH gave %+v", changed)
		}
		if got = c.send("GET", at, ""); got.body != changed.body {
			t.Errorf("GET after PATCH gave %s", got.body)
		}

		// An id that a client sends back arrives as it was.
		again := c.send("POST", "/orders", strings.Replace(tea, "{", `{"reorderOf":"`+o.ID+`",`, 1)).order(t, http.StatusCreated)
		if again.ReorderOf != o.ID || c.send("GET", "/orders/"+again.ID, "").order(t, http.StatusOK).ReorderOf != o.ID {
			t.Errorf("ordered again from %s: %+v", o.ID, again)
		}

		if gone := c.send("DELETE", at, "", `If-Match: "v2"`); gone.status != http.StatusNoContent || gone.body != "" {
			t.Errorf("DELETE gave %+v", gone)
		}
		for _, a := range []answer{c.send("GET", at, ""), c.send("DELETE", at, "", `If-Match: *`), c.send("PATCH", at, `{"note":""}`, `If-Match: *`)} {
			if a.status != http.StatusNotFound {
				t.Errorf("after DELETE: %+v", a)
			}
		}
		if left := stored(t, c.svc); left[o.ID] || left[o.Lines[0].ID] || len(left) != 3 {
			t.Errorf("%d rows are left", len(left))
		}
	})
}

func TestConditions(t *testing.T) {
	t.Parallel()
	c := serve(t, sqliteDSN(t))
	at := "/orders/" + c.send("POST", "/orders", tea).order(t, http.StatusCreated).ID
	list := c.send("GET", "/orders", "").header.Get("ETag")
	for _, r := range []struct {
		method, target, header string
		status                 int
	}{
		{"GET", at, `If-None-Match: "v1"`, 304},
		{"HEAD", at, `If-None-Match: "v1"`, 304},
		{"GET", at, `If-None-Match: W/"v1"`, 304},
		{"GET", at, `If-None-Match: "v7", "v1"`, 304},
		{"GET", at, `If-None-Match: *`, 304},
		{"GET", at, `If-None-Match: "v2"`, 200},
		{"GET", at, `If-None-Match: v1`, 200},
		{"GET", "/orders", "If-None-Match: " + list, 304},
		{"GET", "/orders", `If-None-Match: "v1"`, 200},
		{"PATCH", at, "", 428},
		{"PATCH", at, `If-Match: "v2"`, 412},
		{"PATCH", at, `If-Match: W/"v1"`, 412},
		{"PATCH", at, `If-Match: `, 412},
		{"DELETE", at, "", 428},
		{"DELETE", at, `If-Match: "v2"`, 412},
		{"PATCH", "/orders/1", "", 404},
		{"PATCH", at, `If-Match: "v0", "v1"`, 200},
		{"PATCH", at, `If-Match: "v1"`, 412},
		{"GET", "/orders", "If-None-Match: " + list, 200},
		{"PATCH", at, `If-Match: *`, 200},
		{"DELETE", at, `If-Match: "v1"`, 412},
		{"DELETE", at, `If-Match: "v3"`, 204},
	} {
		t.Run(r.method+" "+r.target+" "+r.header, func(t *testing.T) {
			body := ""
			if r.method == "PATCH" {
				body = `{"note":"x"}`
			}
			var headers []string
			if r.header != "" {
				headers = []string{r.header}
			}
			a := c.send(r.method, r.target, body, headers...)
			if a.status != r.status || a.status == 304 && (a.body != "" || a.header.Get("ETag") == "") {
				t.Errorf("%s %s with %q: %+v, want %d", r.method, r.target, r.header, a, r.status)
			}
			if a.status >= 400 {
				checkProblem(t, a)
			}
		})
	}
}

// Of two changes over one version only one is made.
func TestRacingChanges(t *testing.T) {
	t.Parallel()
	onEvery(t, func(t *testing.T, dsn string) {
		c := serve(t, dsn)
		at := "/orders/" + c.send("POST", "/orders", tea).order(t, http.StatusCreated).ID
		for round := range 5 {
			var done sync.WaitGroup
			results := make(chan int, 8)
			for i := range 8 {
				done.Go(func() {
					a := c.send("PATCH", at, fmt.Sprintf(`{"note":"%d"}`, i), fmt.Sprintf(`If-Match: "v%d"`, round+1))
					results <- a.status
				})
			}
			done.Wait()
			close(results)
			count := map[int]int{}
			for status := range results {
				count[status]++
			}
			if count[200] != 1 || count[412] != 7 {
				t.Errorf("round %d: %v", round, count)
			}
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
		c.send("DELETE", "/orders/"+id, "", "If-Match: *")
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

// Many at once over two services, each with its own worker ID: every order is
// there, and no id twice.
func TestConcurrentOrders(t *testing.T) {
	t.Parallel()
	onEvery(t, func(t *testing.T, dsn string) {
		clients := []*client{serve(t, dsn)}
		if dsn != ":memory:" {
			clients = append(clients, serve(t, dsn))
			if clients[0].svc.gen.Worker() == clients[1].svc.gen.Worker() {
				t.Fatal("both have the same worker ID")
			}
		}
		const goroutines, each = 4, 25
		var done sync.WaitGroup
		made := make(chan order, len(clients)*goroutines*each)
		for _, c := range clients {
			for range goroutines {
				done.Go(func() {
					for range each {
						made <- c.send("POST", "/orders", tea).order(t, http.StatusCreated)
					}
				})
			}
		}
		done.Wait()
		close(made)
		ids := stored(t, clients[0].svc)
		seen := map[string]bool{}
		for o := range made {
			for _, id := range []string{o.ID, o.Lines[0].ID, o.Lines[1].ID} {
				if seen[id] || !ids[id] {
					t.Errorf("%s was given out twice, or is not stored", id)
				}
				seen[id] = true
			}
		}
		if want := len(clients) * goroutines * each * 3; len(seen) != want || len(ids) != want {
			t.Errorf("%d ids given out, %d stored, want %d", len(seen), len(ids), want)
		}
	})
}

// While orders are added and deleted, the others are each on exactly one page.
func TestPagesOfChangingData(t *testing.T) {
	t.Parallel()
	onEvery(t, func(t *testing.T, dsn string) {
		c := serve(t, dsn)
		var all []string
		for range 23 {
			all = append(all, c.send("POST", "/orders", tea).order(t, http.StatusCreated).ID)
		}
		deleted := map[string]bool{}
		remove := func(id string) {
			deleted[id] = true
			if a := c.send("DELETE", "/orders/"+id, "", "If-Match: *"); a.status != http.StatusNoContent {
				t.Fatalf("%+v", a)
			}
		}
		seen := map[string]int{}
		var last sqltype.Key[Order]
		target, pages := "/orders?limit=4", 0
		for target != "" {
			var orders []order
			orders, target = c.list(target)
			pages++
			for _, o := range orders {
				seen[o.ID]++
				id, err := sqltype.ParseKey[Order](o.ID)
				if err != nil || last != 0 && id >= last {
					t.Errorf("%s comes after %s: %v", o.ID, last, err)
				}
				last = id
			}
			if len(orders) != 4 && target != "" {
				t.Errorf("a page of %d", len(orders))
			}
			c.send("POST", "/orders", tea) // belongs before the first page
			switch pages {
			case 1:
				remove(all[22]) // seen already
				remove(orders[3].ID)
			case 2:
				remove(all[5]) // still to come
			}
		}
		for _, id := range all {
			if n := seen[id]; n != 1 && !deleted[id] || n > 1 {
				t.Errorf("%s was seen %d times", id, n)
			}
		}
		if seen[all[5]] != 0 || pages != 6 || len(seen) != 22 {
			t.Errorf("%d pages with %d orders", pages, len(seen))
		}
	})
}

// from and to are bounds of ids: the orders placed in [from, to).
func TestTimes(t *testing.T) {
	t.Parallel()
	onEvery(t, func(t *testing.T, dsn string) {
		c := serve(t, dsn)
		var orders []order
		for i := range 5 {
			if i > 0 {
				time.Sleep(3 * time.Millisecond) // so that each has a millisecond of its own
			}
			orders = append(orders, c.send("POST", "/orders", tea).order(t, http.StatusCreated))
		}
		query := func(from, to string) string {
			q := url.Values{"limit": {"2"}}
			if from != "" {
				q.Set("from", from)
			}
			if to != "" {
				q.Set("to", to)
			}
			return "/orders?" + q.Encode()
		}
		at := func(i int) string { return orders[i].PlacedAt }
		zoned := func(text string) string {
			placed, err := time.Parse(time.RFC3339, text)
			if err != nil {
				t.Fatal(err)
			}
			return placed.In(time.FixedZone("", 3600)).Format(time.RFC3339Nano)
		}
		for _, r := range []struct {
			from, to    string
			first, last int // of orders, both included
		}{
			{"", "", 0, 4},
			{at(1), "", 1, 4},
			{"", at(3), 0, 2},
			{at(1), at(4), 1, 3},
			{zoned(at(1)), zoned(at(4)), 1, 3},
			{at(2), at(2), 1, 0}, // nothing
			{"2010-11-05T00:00:00Z", "2070-01-01T00:00:00Z", 0, 4},
		} {
			t.Run(r.from+" to "+r.to, func(t *testing.T) {
				want := []string{}
				for i := r.last; i >= r.first; i-- {
					want = append(want, orders[i].ID)
				}
				got := []string{}
				for target := query(r.from, r.to); target != ""; {
					var page []order
					page, target = c.list(target)
					for _, o := range page {
						got = append(got, o.ID)
					}
				}
				if strings.Join(got, " ") != strings.Join(want, " ") {
					t.Errorf("[%s, %s): %q, want %q", r.from, r.to, got, want)
				}
			})
		}
	})
}
