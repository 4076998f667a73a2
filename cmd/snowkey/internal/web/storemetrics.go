package web

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// The leases of at most maxNamespaces namespaces are counted, at most once in leasesEvery, and the
// store has leasesWithin for all of them.
const (
	maxNamespaces = 32
	leasesEvery   = 10 * time.Second
	leasesWithin  = 2 * time.Second
)

// watchedStore measures the requests to a store, and counts the leases in the namespaces that
// they name.
type watchedStore struct {
	driver.Store
	duration *prometheus.HistogramVec // by verb and result
	leases   *prometheus.Desc

	mu         sync.Mutex
	namespaces []string // sorted

	counting sync.Mutex // held while leases are counted
	counted  time.Time
	counts   []prometheus.Metric
}

var (
	_ driver.Admin         = (*watchedStore)(nil)
	_ driver.Counter       = (*watchedStore)(nil)
	_ prometheus.Collector = (*watchedStore)(nil)
)

func newWatchedStore(s driver.Store) *watchedStore {
	return &watchedStore{
		Store: s,
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "snowkey_serve_store_request_duration_seconds", Help: "How long requests to the store took, by verb and result.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}, []string{"verb", "result"}),
		leases: prometheus.NewDesc("snowkey_serve_leases", "Worker IDs in the store by namespace and state, by this machine's clock.",
			[]string{"snowkey_namespace", "state"}, nil),
	}
}

// measure notes how long a request took, and what came of it. The store has refused what a
// healthy one may refuse as well.
func (w *watchedStore) measure(verb string, began time.Time, err error) {
	var skew *driver.SkewError
	var layout *driver.LayoutError
	var config *core.ConfigError
	result := "ok"
	switch {
	case err == nil:
	case errors.Is(err, driver.ErrNotHeld), errors.Is(err, driver.ErrNoWorkerID), errors.As(err, &skew), errors.As(err, &layout), errors.As(err, &config):
		result = "refused"
	case errors.Is(err, context.Canceled): // the client is gone
		result = "cancelled"
	default:
		result = "failed"
	}
	w.duration.WithLabelValues(verb, result).Observe(time.Since(began).Seconds())
}

// note remembers a namespace that the store has accepted.
func (w *watchedStore) note(namespace string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if i, found := slices.BinarySearch(w.namespaces, namespace); !found && len(w.namespaces) < maxNamespaces {
		w.namespaces = slices.Insert(w.namespaces, i, namespace)
	}
}

func (w *watchedStore) Claim(ctx context.Context, r driver.Request) (c driver.Claim, err error) {
	defer func(began time.Time) { w.measure("claim", began, err) }(time.Now())
	if c, err = w.Store.Claim(ctx, r); err == nil {
		w.note(r.Namespace)
	}
	return c, err
}

func (w *watchedStore) Renew(ctx context.Context, r driver.Renewal) (err error) {
	defer func(began time.Time) { w.measure("renew", began, err) }(time.Now())
	if err = w.Store.Renew(ctx, r); err == nil {
		w.note(r.Namespace) // of a claim before this server started
	}
	return err
}

func (w *watchedStore) Release(ctx context.Context, r driver.Return) (err error) {
	defer func(began time.Time) { w.measure("release", began, err) }(time.Now())
	return w.Store.Release(ctx, r)
}

func (w *watchedStore) List(ctx context.Context, namespace string) (records []driver.Record, err error) {
	admin, ok := w.Store.(driver.Admin)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	defer func(began time.Time) { w.measure("list", began, err) }(time.Now())
	return admin.List(ctx, namespace)
}

func (w *watchedStore) Free(ctx context.Context, namespace string, worker, fencingToken int64) (err error) {
	admin, ok := w.Store.(driver.Admin)
	if !ok {
		return errors.ErrUnsupported
	}
	defer func(began time.Time) { w.measure("free", began, err) }(time.Now())
	return admin.Free(ctx, namespace, worker, fencingToken)
}

func (w *watchedStore) Count(ctx context.Context, name string) (value int64, err error) {
	counter, ok := w.Store.(driver.Counter)
	if !ok {
		return 0, errors.ErrUnsupported
	}
	defer func(began time.Time) { w.measure("count", began, err) }(time.Now())
	return counter.Count(ctx, name)
}

// Describe implements prometheus.Collector.
func (w *watchedStore) Describe(out chan<- *prometheus.Desc) {
	w.duration.Describe(out)
	out <- w.leases
}

// Collect implements prometheus.Collector. A namespace that cannot be listed has no value.
func (w *watchedStore) Collect(out chan<- prometheus.Metric) {
	for _, m := range w.countLeases() {
		out <- m
	}
	w.duration.Collect(out)
}

// countLeases counts the leases. One scrape asks the store, and the others wait.
func (w *watchedStore) countLeases() []prometheus.Metric {
	w.counting.Lock()
	defer w.counting.Unlock()
	if !w.counted.IsZero() && time.Since(w.counted) < leasesEvery {
		return w.counts
	}
	w.mu.Lock()
	namespaces := slices.Clone(w.namespaces)
	w.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), leasesWithin)
	defer cancel()
	w.counts = nil
	for _, namespace := range namespaces {
		records, err := w.List(ctx, namespace)
		if err != nil {
			continue
		}
		states := map[string]int{"held": 0, "expired": 0, "released": 0}
		for _, r := range records {
			states[stateOf(r, time.Now())]++
		}
		for state, n := range states {
			w.counts = append(w.counts, prometheus.MustNewConstMetric(w.leases, prometheus.GaugeValue, float64(n), namespace, state))
		}
	}
	w.counted = time.Now()
	return w.counts
}

func stateOf(r driver.Record, now time.Time) string {
	switch {
	case r.ClaimID == "":
		return "released"
	case r.Free(now.UnixMilli()):
		return "expired"
	}
	return "held"
}
