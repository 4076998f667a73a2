package web

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
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

func (b *broken) List(context.Context, string) (driver.State, error) {
	b.asked.Add(1)
	return driver.State{}, b.err
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
			must(t, err)
			if c.drain {
				h.Drain()
			}
			if body := get[healthBody](t, h, alivePath); body.Status != "alive" {
				t.Errorf("%+v", body)
			}
			for range 3 {
				w := ask(h, http.MethodGet, readyPath)
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
			if w := ask(h, http.MethodPost, readyPath); w.Code != http.StatusMethodNotAllowed {
				t.Errorf("POST: %d", w.Code)
			}
		})
	}
}
