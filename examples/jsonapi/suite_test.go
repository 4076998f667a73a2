package main

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// onEvery runs a test on every database, each time on a fresh one, by its -db.
func onEvery(t *testing.T, test func(t *testing.T, dsn string)) {
	t.Run("sqlite", func(t *testing.T) { test(t, sqliteDSN(t)) })
	t.Run("postgres", func(t *testing.T) { test(t, testserver.Database(t, "pgx", testserver.Postgres(t).DSN)) })
}

func sqliteDSN(t *testing.T) string { return filepath.Join(t.TempDir(), "orders.sqlite") }

// client talks to a service that runs in this process.
type client struct {
	t   *testing.T
	svc *service
	url string
}

// serve starts the service, which ends with the test. The servers of tests do
// without the disk.
func serve(t *testing.T, dsn string) *client {
	t.Helper()
	svc, err := newService(t.Context(), dsn, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(svc.handler())
	t.Cleanup(func() {
		server.Close()
		if err := svc.close(); err != nil {
			t.Error(err)
		}
	})
	return &client{t, svc, server.URL}
}

// answer is what came back, its body read.
type answer struct {
	status int
	header http.Header
	body   string
}

// send sends a request with headers given as "Name: value".
func (c *client) send(method, target, body string, headers ...string) answer {
	c.t.Helper()
	request, err := http.NewRequestWithContext(c.t.Context(), method, c.url+target, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		c.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return answer{response.StatusCode, response.Header, string(text)}
}

// order reads an answer as an order, with the ids as a browser has them.
type order struct {
	ID, ReorderOf string
	PlacedAt      string
	Customer      string
	Note          string
	TotalCents    int64
	Lines         []struct {
		ID, OrderID, SKU     string
		Quantity, PriceCents int64
	}
}

func (a answer) order(t *testing.T, status int) (o order) {
	t.Helper()
	a.into(t, status, &o)
	return o
}

func (a answer) into(t *testing.T, status int, v any) {
	t.Helper()
	if a.status != status {
		t.Fatalf("status %d, want %d: %s", a.status, status, a.body)
	}
	if err := json.Unmarshal([]byte(a.body), v); err != nil {
		t.Fatalf("%v: %s", err, a.body)
	}
}

// list reads one page.
func (c *client) list(target string) (orders []order, next string) {
	c.t.Helper()
	var p struct {
		Orders []order
		Next   string
	}
	c.send("GET", target, "").into(c.t, http.StatusOK, &p)
	return p.Orders, p.Next
}

// stored are the ids of the orders and lines in the database, in the form of their keys.
func stored(t *testing.T, svc *service) (ids map[string]bool) {
	t.Helper()
	rows, err := svc.rows.Query("SELECT id, 1 = 1 FROM jsonapi_orders UNION ALL SELECT id, 1 = 0 FROM jsonapi_lines")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	ids = map[string]bool{}
	for rows.Next() {
		var id int64
		var order bool
		if err := rows.Scan(&id, &order); err != nil {
			t.Fatal(err)
		}
		text := sqltype.Key[Line](id).String()
		if order {
			text = sqltype.Key[Order](id).String()
		}
		if ids[text] {
			t.Errorf("%s is there twice", text)
		}
		ids[text] = true
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return ids
}

const tea = `{"customer":"Ada","lines":[{"sku":"tea","quantity":2,"priceCents":450},{"sku":"cup","quantity":1,"priceCents":1299}]}`
