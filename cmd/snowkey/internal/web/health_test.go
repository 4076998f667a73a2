package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/memstore"
)

// broken is a store whose List fails, and counts.
type broken struct {
	*memstore.Store
	err   error
	asked atomic.Int64
}

func (b *broken) List(context.Context, string) ([]driver.Record, error) {
	b.asked.Add(1)
	return nil, b.err
}

// The probes by the state of the server.
func TestHealth(t *testing.T) {
	store := memstore.New(memstore.Config{})
	for _, c := range []struct {
		name   string
		store  driver.Store
		drain  bool
		status int
		says   string
	}{
		{"no store", nil, false, 200, `"ready"`},
		{"a store", store, false, 200, `"ready"`},
		{"a store that is broken", &broken{Store: store, err: errors.New("dial 10.9.8.7")}, false, 503, "does not answer"},
		{"a store that cannot be asked", &broken{Store: store, err: errors.ErrUnsupported}, false, 200, `"ready"`},
		{"shutting down", nil, true, 503, "shutting down"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := Config{Store: c.store}
			if c.store != nil {
				cfg.Token = secret
			}
			var said bytes.Buffer
			cfg.Logger = slog.New(slog.NewTextHandler(&said, nil))
			h, err := New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			if c.drain {
				h.Drain()
			}
			if body := get[healthBody](t, h, alivePath); body.Status != "alive" {
				t.Errorf("%+v", body)
			}
			for range 3 {
				w := ask(h, http.MethodGet, readyPath, "")
				if w.Code != c.status || !strings.Contains(w.Body.String(), c.says) || strings.Contains(w.Body.String(), "10.9.8.7") {
					t.Errorf("%d %s", w.Code, w.Body)
				}
				if retry := w.Header().Get("Retry-After"); (w.Code == 503) != (retry == "1") {
					t.Errorf("Retry-After %q", retry)
				}
			}
			if b, ok := c.store.(*broken); ok && b.asked.Load() != 1 {
				t.Errorf("the store was asked %d times", b.asked.Load())
			}
			if logged := strings.Count(said.String(), "10.9.8.7"); c.says == "does not answer" && logged != 1 {
				t.Errorf("logged %d times: %s", logged, said.String())
			}
			if w := ask(h, http.MethodPost, readyPath, ""); w.Code != http.StatusMethodNotAllowed {
				t.Errorf("POST: %d", w.Code)
			}
		})
	}
}

// Each request has a line, with the client behind a proxy and without the query.
func TestAccessLog(t *testing.T) {
	var text bytes.Buffer
	h := handler(t, Config{Access: slog.New(slog.NewJSONHandler(&text, nil)), Proxies: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}})
	r := httptest.NewRequest(http.MethodGet, "/api/parse?id=1996573624012345677", nil)
	r.Header.Set("X-Forwarded-For", "203.0.113.5")
	w := record(h, r)
	var line struct {
		Msg, Method, Path, Client string
		Status, Bytes             int
		Duration                  int64
	}
	if err := json.Unmarshal(text.Bytes(), &line); err != nil {
		t.Fatalf("%v: %s", err, text.String())
	}
	if line.Msg != "request" || line.Method != http.MethodGet || line.Path != "/api/parse" || line.Status != 200 || line.Client != "203.0.113.5" ||
		line.Bytes != w.Body.Len() || line.Duration <= 0 || strings.Contains(text.String(), "1996573624012345677") {
		t.Errorf("%s", text.String())
	}
	for target, want := range map[string]string{"/api/ids": `"status":400`, "/nothing": `"status":404`, alivePath: "", "/" + strings.Repeat("x", 5000): "xxx…"} {
		text.Reset()
		ask(h, http.MethodGet, target, "")
		if !strings.Contains(text.String(), want) || want == "" && text.Len() > 0 || text.Len() > 500 {
			t.Errorf("%.50s: %s", target, text.String())
		}
	}
}
