package web

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/seed-299c1d6b/snowkey/worker/memstore"
)

// scrape returns the lines of /metrics.
func scrape(t *testing.T, h http.Handler) []string {
	t.Helper()
	w := ask(h, http.MethodGet, "/metrics")
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
	must(t, err)
	return h
}

// Requests are counted, whatever becomes of them, under a bounded number of labels.
func TestRequestMetrics(t *testing.T) {
	h := measured(t, Config{})
	for _, target := range []string{
		"/", "/no/such/path", "/" + strings.Repeat("x", 200), "/api/ids?worker=1&n=5", "/api/ids",
	} {
		ask(h, http.MethodGet, target)
	}
	ask(h, "BREW", "/")
	got := scrape(t, h.Metrics())
	want(t, got,
		`snowkey_serve_requests_total{code="200",method="get",path="/"} 1`,
		`snowkey_serve_requests_total{code="405",method="unknown",path="/"} 1`,
		`snowkey_serve_requests_total{code="404",method="get",path="other"} 2`,
		`snowkey_serve_requests_total{code="200",method="get",path="/api/ids"} 1`,
		`snowkey_serve_requests_total{code="400",method="get",path="/api/ids"} 1`,
		`snowkey_serve_request_duration_seconds_count{path="/api/ids"} 2`,
		`snowkey_serve_requests_in_flight 0`,
		`snowkey_serve_ready 1`,
	)
	h.Drain()
	want(t, scrape(t, h.Metrics()), `snowkey_serve_ready 0`)
}

func TestGeneratorMetrics(t *testing.T) {
	h := measured(t, Config{pairs: 1})
	for _, n := range []int{5, 1, 2} {
		for ask(h, http.MethodGet, fmt.Sprintf("/api/ids?worker=%d&n=%d", n, n)).Code == http.StatusServiceUnavailable {
			// The tick of the generator to be evicted is not over.
		}
	}
	ask(h, http.MethodGet, "/api/ids?worker=1&time=2026-01-01") // composed
	want(t, scrape(t, h.Metrics()), `snowkey_serve_ids_issued_total 8`, `snowkey_serve_generators 1`, `snowkey_serve_generators_evicted_total 2`)
}

// The names follow the conventions, the dashboard uses no others, and docs/metrics.md has all.
func TestMetricNames(t *testing.T) {
	h, err := New(Config{Metrics: true, Store: memstore.New(memstore.Config{}), Token: secret})
	must(t, err)
	ask(h, http.MethodGet, "/")
	problems, err := testutil.GatherAndLint(h.counts.registry)
	if err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
	families, err := h.counts.registry.Gather()
	must(t, err)
	var names []string
	for _, family := range families {
		if name := family.GetName(); strings.HasPrefix(name, "snowkey_") {
			names = append(names, name)
		}
	}
	name := regexp.MustCompile(`\bsnowkey_serve_\w+`)
	trim := regexp.MustCompile(`_(bucket|count|sum)$`)
	for _, file := range []string{"contrib/snowprom/dashboard.json", "docs/metrics.md"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "..", "..", filepath.FromSlash(file)))
		must(t, err)
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
