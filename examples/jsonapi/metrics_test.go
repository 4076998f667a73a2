package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// collected is what a collector of OpenTelemetry gets, by path.
type collected struct {
	mu   sync.Mutex
	sent map[string]string
}

func (c *collected) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent[r.URL.Path] += string(body)
}

// Metrics, health and readiness are on an address of their own; spans and metrics reach the
// collector that the environment names, also those of the end.
func TestOperations(t *testing.T) {
	c := &collected{sent: map[string]string{}}
	collector := httptest.NewServer(c)
	defer collector.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
	t.Setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "none")
	p := start(t, "-db", sqliteDSN(t), "-metrics", "127.0.0.1:0")
	p.send("POST", "/orders", tea).order(t, http.StatusCreated)
	metrics := p.operations.send("GET", "/metrics", "")
	for _, line := range []string{
		`snowkey_ids_issued_total{snowkey_namespace="jsonapi"} 3`, // an order and two lines
		`snowkey_lease_state{snowkey_lease_state="held",snowkey_namespace="jsonapi"} 1`,
		`snowkey_worker_id{snowkey_namespace="jsonapi"} ` + p.number,
		"go_goroutines ", "process_open_fds ",
	} {
		if metrics.status != http.StatusOK || !strings.Contains(metrics.body, line) {
			t.Errorf("%d, no line %s in\n%s", metrics.status, line, metrics.body)
		}
	}
	for path, status := range map[string]int{"/healthz": http.StatusOK, "/readyz": http.StatusNoContent, "/orders": http.StatusNotFound} {
		if a := p.operations.send("GET", path, ""); a.status != status {
			t.Errorf("%s of -metrics: %d, want %d", path, a.status, status)
		}
	}
	for _, path := range []string{"/metrics", "/readyz"} {
		if a := p.send("GET", path, ""); a.status != http.StatusNotFound {
			t.Errorf("%s of -addr: %d", path, a.status)
		}
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := p.end(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for path, names := range map[string][]string{
		"/v1/traces":  {"snowkey.lease.claim", "snowkey.lease.release"},
		"/v1/metrics": {"snowkey.ids.issued", "snowkey.fence.left"},
	} {
		for _, name := range names {
			if !strings.Contains(c.sent[path], name) {
				t.Errorf("%s: no %s among %d bytes", path, name, len(c.sent[path]))
			}
		}
	}
}

// Without ids or without the database, the service is not ready, and yet alive.
func TestNotReady(t *testing.T) {
	c := serve(t, ":memory:")
	handler, err := c.svc.operations()
	if err != nil {
		t.Fatal(err)
	}
	status := func(path string) int {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		return w.Code
	}
	if got := status("/readyz"); got != http.StatusNoContent {
		t.Errorf("ready: %d", got)
	}
	if err := c.svc.rows.Close(); err != nil {
		t.Fatal(err)
	}
	if got := status("/readyz"); got != http.StatusServiceUnavailable {
		t.Errorf("without the database: %d", got)
	}
	if got := status("/healthz"); got != http.StatusOK {
		t.Errorf("alive: %d", got)
	}
}
