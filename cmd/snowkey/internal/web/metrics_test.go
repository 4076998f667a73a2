package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/httpstore"
	"github.com/seed-299c1d6b/snowkey/worker/memstore"
)

// scrape returns the lines of /metrics.
func scrape(t *testing.T, h http.Handler) []string {
	t.Helper()
	w := ask(h, http.MethodGet, "/metrics", "")
	if w.Code != http.StatusOK || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain") {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	return strings.Split(w.Body.String(), "\n")
}

// want reports lines that are not there.
func want(t *testing.T, got []string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !slices.Contains(got, line) {
			name, _, _ := strings.Cut(line, "{")
			t.Errorf("no line %s, but\n%s", line, strings.Join(slices.DeleteFunc(slices.Clone(got), func(l string) bool { return !strings.HasPrefix(l, name) }), "\n"))
		}
	}
}

func measured(t *testing.T, cfg Config) *Handler {
	t.Helper()
	cfg.Metrics = true
	h, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// Requests are counted, whatever becomes of them, under a bounded number of labels.
func TestRequestMetrics(t *testing.T) {
	h := measured(t, Config{Rate: 8})
	for _, target := range []string{
		"/", "/healthz", "/no/such/path", "/" + strings.Repeat("x", 200),
		"/api/ids?worker=1&n=5", "/api/ids", "/api/layouts?tick=x", "/api/layouts", "/api/layouts", "/api/parse?id=1", "/api/parse?id=2", "/api/parse?id=3",
		"/api/range", // the ninth
	} {
		ask(h, http.MethodGet, target, "")
	}
	ask(h, "BREW", "/", "")
	got := scrape(t, h.Metrics())
	want(t, got,
		`snowkey_serve_requests_total{code="200",method="get",path="/"} 1`,
		`snowkey_serve_requests_total{code="405",method="unknown",path="/"} 1`,
		`snowkey_serve_requests_total{code="200",method="get",path="/healthz"} 1`,
		`snowkey_serve_requests_total{code="404",method="get",path="other"} 2`,
		`snowkey_serve_requests_total{code="200",method="get",path="/api/ids"} 1`,
		`snowkey_serve_requests_total{code="400",method="get",path="/api/ids"} 1`,
		`snowkey_serve_requests_total{code="400",method="get",path="/api/layouts"} 1`,
		`snowkey_serve_requests_total{code="429",method="get",path="/api/range"} 1`,
		`snowkey_serve_request_duration_seconds_count{path="/api/ids"} 2`,
		`snowkey_serve_requests_in_flight 0`,
		`snowkey_serve_ready 1`,
	)
	h.Drain()
	want(t, scrape(t, h.Metrics()), `snowkey_serve_ready 0`)
	for _, line := range got {
		if len(line) > 300 {
			t.Errorf("a long line: %s", line)
		}
	}
}

func TestGeneratorMetrics(t *testing.T) {
	h := measured(t, Config{pairs: 2})
	for _, n := range []int{5, 1, 2} {
		for ask(h, http.MethodGet, fmt.Sprintf("/api/ids?worker=%d&n=%d", n, n), "").Code == http.StatusServiceUnavailable {
			// The tick of the generator to be evicted is not over.
		}
	}
	ask(h, http.MethodGet, "/api/ids?worker=1&time=2026-01-01", "") // composed
	want(t, scrape(t, h.Metrics()), `snowkey_serve_ids_issued_total 8`, `snowkey_serve_generators 2`, `snowkey_serve_generators_evicted_total 1`)
}

// The metrics are on their own handler only, which has the protection of the page.
func TestMetricsAddress(t *testing.T) {
	h := measured(t, Config{})
	if w := ask(h, http.MethodGet, "/metrics", ""); w.Code != http.StatusNotFound {
		t.Errorf("/metrics of the page: %d", w.Code)
	}
	for target, status := range map[string]int{"/metrics": 200, "/": 404, "/api/ids?worker=1": 404, "/metrics/": 404} {
		if w := ask(h.Metrics(), http.MethodGet, target, ""); w.Code != status || w.Header().Get("Content-Security-Policy") != policy {
			t.Errorf("%s: %d, want %d", target, w.Code, status)
		}
	}
	if w := ask(h.Metrics(), http.MethodPost, "/metrics", ""); w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: %d %v", w.Code, w.Header())
	}
	server := httptest.NewServer(h.Metrics()) // over loopback
	defer server.Close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = "evil.example"
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusMisdirectedRequest {
		t.Errorf("under a foreign name: %d", answer.StatusCode)
	}
	without, err := New(Config{})
	if err != nil || without.Metrics() != nil {
		t.Errorf("%v, %v", without.Metrics(), err)
	}
}

// Requests of leases are measured by what comes of them, and leases are counted by state.
func TestStoreMetrics(t *testing.T) {
	mem := memstore.New(memstore.Config{})
	h := measured(t, Config{Store: mem, Token: secret})
	server := httptest.NewServer(h)
	defer server.Close()
	store := mustNew(httpstore.New(httpstore.Config{URL: server.URL + LeasesPath, Token: secret}))
	layout := core.Layout{TimeBits: 41, WorkerBits: 1, SequenceBits: 12}
	var leases []*worker.Generator
	for range 2 {
		lease, err := worker.Open(t.Context(), store, worker.Config{Namespace: "orders", Layout: layout})
		if err != nil {
			t.Fatal(err)
		}
		leases = append(leases, lease)
	}
	var none *worker.NoWorkerIDError
	if _, err := worker.Open(t.Context(), store, worker.Config{Namespace: "orders", Layout: layout, ClaimWait: -1}); !errors.As(err, &none) {
		t.Fatal(err)
	}
	if err := leases[0].Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	defer leases[1].Close(context.Background())
	want(t, scrape(t, h.Metrics()),
		`snowkey_serve_requests_total{code="200",method="post",path="/leases/v1/claim"} 2`,
	)
}

// The names follow the conventions, the dashboard uses no others, and docs/metrics.md has all.
func TestMetricNames(t *testing.T) {
	h, err := New(Config{Metrics: true, Store: memstore.New(memstore.Config{}), Token: secret})
	if err != nil {
		t.Fatal(err)
	}
	ask(h, http.MethodGet, "/", "")
	problems, err := testutil.GatherAndLint(h.counts.registry)
	if err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
	families, err := h.counts.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, family := range families {
		if name := family.GetName(); strings.HasPrefix(name, "snowkey_") {
			names = append(names, name)
		}
	}
	name := regexp.MustCompile(`\bsnowkey_serve_\w+`)
	trim := regexp.MustCompile(`_(bucket|count|sum)$`)
	for _, file := range []string{"contrib/prometheus/dashboard.json", "docs/metrics.md"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "..", "..", filepath.FromSlash(file)))
		if err != nil {
			t.Fatal(err)
		}
		var used []string
		for _, n := range name.FindAllString(string(text), -1) {
			used = append(used, trim.ReplaceAllString(n, ""))
		}
		for _, n := range used {
			if !slices.Contains(names, n) {
				t.Errorf("%s names %s", file, n)
			}
		}
		for _, n := range names {
			if !slices.Contains(used, n) {
				t.Errorf("%s does not name %s", file, n)
			}
		}
	}
}
