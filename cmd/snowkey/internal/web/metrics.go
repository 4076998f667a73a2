package web

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// metrics are what the server exports to Prometheus. The values of its labels are bounded,
// whatever clients send.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec   // by path, method and code
	duration *prometheus.HistogramVec // by path
	inFlight prometheus.Gauge
}

// The paths that requests are counted under. The others are one label.
var countedPaths = []string{
	"/", "/api", "/api/layouts", "/api/ids", "/api/parse", "/api/range", "/api/openapi.json", alivePath, readyPath,
	LeasesPath + "/v1/claim", LeasesPath + "/v1/renew", LeasesPath + "/v1/release", LeasesPath + "/v1/list", LeasesPath + "/v1/free", LeasesPath + "/v1/raise", LeasesPath + "/v1/reserve",
}

const otherPaths = "other"

func newMetrics(g *generators, h *health) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "snowkey_serve_requests_total", Help: "Requests by path, method and status code.",
		}, []string{"path", "method", "code"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "snowkey_serve_request_duration_seconds", Help: "How long requests took, by path.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5},
		}, []string{"path"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "snowkey_serve_requests_in_flight", Help: "Requests that are being answered.",
		}),
	}
	m.registry.MustRegister(
		m.requests, m.duration, m.inFlight,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "snowkey_serve_ready", Help: "1 if /readyz says ready, otherwise 0.",
		}, func() float64 {
			if h.draining.Load() || h.ask() != nil {
				return 0
			}
			return 1
		}),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "snowkey_serve_ids_issued_total", Help: "Ids that /api/ids has generated.",
		}, func() float64 { return float64(g.stats().issued) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "snowkey_serve_generators", Help: "Pairs of layout and worker ID for which ids are generated.",
		}, func() float64 { return float64(g.stats().generators) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "snowkey_serve_generators_evicted_total", Help: "Generators that made room for others.",
		}, func() float64 { return float64(g.stats().evicted) }),
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		collectors.NewBuildInfoCollector(),
	)
	return m
}

// count counts the requests that reach a handler. Nil metrics count none.
func (m *metrics) count(next http.Handler) http.Handler {
	if m == nil {
		return next
	}
	next = promhttp.InstrumentHandlerInFlight(m.inFlight, next)
	byPath := make(map[string]http.Handler)
	for _, path := range append(slices.Clone(countedPaths), otherPaths) {
		label := prometheus.Labels{"path": path}
		byPath[path] = promhttp.InstrumentHandlerDuration(m.duration.MustCurryWith(label),
			promhttp.InstrumentHandlerCounter(m.requests.MustCurryWith(label), next))
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler, ok := byPath[r.URL.Path]
		if !ok {
			handler = byPath[otherPaths]
		}
		handler.ServeHTTP(w, r)
	})
}

// handler serves /metrics.
func (m *metrics) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Registry: m.registry}))
	return mux
}

// The paths for probes.
const (
	alivePath = "/healthz"
	readyPath = "/readyz"
)

// The store is asked at most once in storeEvery, and has storeWithin to answer.
const (
	storeEvery  = time.Second
	storeWithin = 2 * time.Second
)

// health answers probes. The server is alive while it answers. It is ready if its store answers,
// until Drain is called.
type health struct {
	store    driver.Admin // nil: none, or it cannot be asked
	logger   *slog.Logger
	draining atomic.Bool

	mu    sync.Mutex
	asked time.Time
	err   error // of the store
}

type healthBody struct {
	Status string `json:"status"`
}

func (h *health) alive(w http.ResponseWriter, r *http.Request) {
	h.answer(w, r, "alive", nil)
}

func (h *health) ready(w http.ResponseWriter, r *http.Request) {
	switch {
	case h.draining.Load():
		h.answer(w, r, "", refuse(http.StatusServiceUnavailable, "server", "", "is shutting down"))
	case h.ask() != nil: // the reason is in the log: it may name hosts
		h.answer(w, r, "", refuse(http.StatusServiceUnavailable, "store", "", "does not answer; see the server's log").after(storeEvery))
	default:
		h.answer(w, r, "ready", nil)
	}
}

func (h *health) answer(w http.ResponseWriter, r *http.Request, status string, refused *refusal) {
	if !allows(w, r, []string{http.MethodGet, http.MethodHead}) {
		refused = refuse(http.StatusMethodNotAllowed, "method", r.Method, "must be GET or HEAD")
	}
	if refused != nil {
		writeErrors(w, r, refused)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	writeJSON(w, r, http.StatusOK, healthBody{status})
}

// ask returns the error of the store. Everybody may ask for it, so the answer is kept for a moment.
// One probe asks, and the others wait.
func (h *health) ask() error {
	if h.store == nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.asked.IsZero() && time.Since(h.asked) < storeEvery {
		return h.err
	}
	ctx, cancel := context.WithTimeout(context.Background(), storeWithin) // not that of one probe
	defer cancel()
	_, err := h.store.List(ctx, "readyz") // a namespace that is empty
	if errors.Is(err, errors.ErrUnsupported) {
		err = nil
	}
	if err != nil && h.err == nil {
		h.logger.Error("the store does not answer", "error", err)
	} else if err == nil && h.err != nil {
		h.logger.Info("the store answers again")
	}
	h.asked, h.err = time.Now(), err
	return err
}
