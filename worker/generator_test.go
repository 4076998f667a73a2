package worker_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/memstore"
)

// ownedStore is a store that only one generator uses.
type ownedStore struct {
	*memstore.Store
	down   error // of Release
	end    error // of CloseWithGenerator
	closed int
}

func (s *ownedStore) CloseWithGenerator() error { s.closed++; return s.end }

func (s *ownedStore) Release(ctx context.Context, r driver.Release) error {
	if s.down != nil {
		return s.down
	}
	return s.Store.Release(ctx, r)
}

// released returns the one record of a store that was closed once, whose worker ID is free.
func (s *ownedStore) released(t *testing.T) driver.Record {
	t.Helper()
	st, err := s.List(t.Context(), "default")
	if err != nil || len(st.Records) != 1 || st.Records[0].Status != driver.Released || s.closed != 1 {
		t.Fatalf("%+v, %v, closed %d times", st, err, s.closed)
	}
	return st.Records[0]
}

func mustOpen(t *testing.T, s driver.Store, cfg worker.Config) *worker.Generator {
	t.Helper()
	gen, err := worker.Open(t.Context(), s, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return gen
}

// All faults are in one error, before the store is asked, and a store that only this generator
// uses is closed.
func TestOpenRefuses(t *testing.T) {
	s := &ownedStore{Store: memstore.New(memstore.Config{})}
	gen, err := worker.Open(t.Context(), s, worker.Config{
		Namespace: "a b", FenceWindow: -1, Sequence: 9, MaxWait: -1, ClockPolicy: core.Rollback{}, RequirePreferred: true,
	})
	var config *core.ConfigError
	if gen != nil || !errors.As(err, &config) || config.Package != "worker" {
		t.Fatalf("%v, %v", gen, err)
	}
	var fields []string
	for _, f := range config.Fields {
		fields = append(fields, f.Field)
	}
	if got, want := strings.Join(fields, " "), "Namespace FenceWindow RequirePreferred ClockPolicy Sequence MaxWait"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if s.closed != 1 {
		t.Errorf("closed %d times", s.closed)
	}
	_, err = worker.Open(t.Context(), nil, worker.Config{Layout: core.Layout{TimeBits: 99}, ClockPolicy: core.Rollback{}})
	if !errors.As(err, &config) || len(config.Fields) != 2 || config.Fields[0].Field != "Store" || !strings.HasPrefix(config.Fields[1].Field, "Layout.") {
		t.Errorf("%v", err)
	}
}

// If the generator cannot be made, the worker ID is released.
func TestOpenReleases(t *testing.T) {
	s := &ownedStore{Store: memstore.New(memstore.Config{})}
	if _, err := worker.Open(t.Context(), s, worker.Config{NotBefore: core.Twitter().End()}); err == nil || !strings.Contains(err.Error(), "NotBefore") {
		t.Errorf("%v", err)
	}
	s.released(t)
}

// slowStore is a store of one generator that answers a claim when the test lets it, and refuses
// requests once it is closed.
type slowStore struct {
	ownedStore
	answer chan struct{}
}

func (s *slowStore) Claim(_ context.Context, c driver.Claim) (driver.Lease, error) {
	<-s.answer
	return s.Store.Claim(context.Background(), c)
}

func (s *slowStore) Release(ctx context.Context, r driver.Release) error {
	if s.closed > 0 {
		return errors.New("closed")
	}
	return s.ownedStore.Release(ctx, r)
}

// A store that only one generator uses is closed after a claim that was under way when Open was
// cancelled is released.
func TestOpenClosesTheStoreLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)))
		s := &slowStore{ownedStore{Store: memstore.New(memstore.Config{})}, make(chan struct{})}
		ctx, cancel := context.WithCancel(t.Context())
		opened := make(chan error)
		go func() { _, err := worker.Open(ctx, s, worker.Config{NoExpiry: true}); opened <- err }()
		synctest.Wait()
		cancel()
		if err := <-opened; !errors.Is(err, context.Canceled) || s.closed != 0 {
			t.Errorf("%v, closed %d times", err, s.closed)
		}
		close(s.answer)
		synctest.Wait()
		s.released(t)
	})
}

// It is also closed if that claim cannot be released.
func TestOpenClosesTheStoreThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)))
		s := &slowStore{ownedStore{Store: memstore.New(memstore.Config{}), down: errors.New("down")}, make(chan struct{})}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		time.AfterFunc(2*time.Second, func() { close(s.answer) })
		if _, err := worker.Open(ctx, s, worker.Config{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if s.closed != 1 {
			t.Errorf("closed %d times", s.closed)
		}
	})
}

// If Close does not wait for the release, the lease's goroutine makes it and closes the store.
func TestCloseWithoutWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)))
		s := &ownedStore{Store: memstore.New(memstore.Config{})}
		gen := mustOpen(t, s, worker.Config{})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := gen.Close(ctx); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		synctest.Wait()
		s.released(t)
		if err := gen.Close(t.Context()); err != nil || s.closed != 1 {
			t.Errorf("%v, closed %d times", err, s.closed)
		}
	})
}

// Close ends waiting calls. The store then records the first unused instant. Even if the store fails,
// no id is issued any more, and the next Close tries again.
func TestCloseOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)))
		s := &ownedStore{Store: memstore.New(memstore.Config{}), down: driver.Permanent(errors.New("sql: database is closed"))}
		layout := core.Layout{Epoch: core.Twitter().Epoch, Tick: time.Hour, TimeBits: 20, WorkerBits: 4}
		gen := mustOpen(t, s, worker.Config{Layout: layout, ClockPolicy: core.Wait{}, MaxWait: 2 * time.Hour})
		id, err := gen.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		waited := make(chan error)
		go func() { _, err := gen.Next(t.Context()); waited <- err }() // there is one id an hour
		synctest.Wait()
		began := time.Now()
		if err := gen.Close(context.Background()); err == nil || !strings.Contains(err.Error(), "not released") || s.closed != 0 || time.Since(began) > 0 {
			t.Errorf("%v, closed %d times, after %v", err, s.closed, time.Since(began))
		}
		if err := <-waited; !errors.Is(err, core.ErrClosed) {
			t.Errorf("a call that waited: %v", err)
		}
		if _, err := gen.Next(t.Context()); !errors.Is(err, core.ErrClosed) {
			t.Errorf("a later call: %v", err)
		}
		s.down = nil
		done, cancel := context.WithCancel(t.Context())
		cancel()
		if err := gen.Close(done); !errors.Is(err, context.Canceled) {
			t.Errorf("with a context that is done: %v", err)
		}
		for range 2 {
			if err := gen.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}
		if err := gen.Failing(); !errors.Is(err, core.ErrClosed) {
			t.Errorf("failing: %v", err)
		}
		parts, _ := layout.Decode(id)
		if r := s.released(t); r.Fence != parts.Time.Add(time.Hour).UnixMilli() {
			t.Errorf("%+v", r)
		}
	})
}

// After a loss, ids continue up to the fence, unless Close ends them.
func TestCloseAfterALoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)))
		s := memstore.New(memstore.Config{})
		id := int64(7)
		gen := mustOpen(t, s, worker.Config{Preferred: &id, RequirePreferred: true})
		st := gen.Stats()
		if err := s.Free(t.Context(), st.Namespace, st.Worker, st.FencingToken); err != nil {
			t.Fatal(err)
		}
		time.Sleep(11 * time.Second)
		if _, err := gen.Next(t.Context()); err != nil || gen.Stats().FenceLeft == 0 || gen.Stats().State != "lost" || gen.Failing() == nil {
			t.Errorf("%v, %+v", err, gen.Stats())
		}
		if err := gen.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if left := gen.Stats().FenceLeft; left != 0 || !errors.Is(gen.Failing(), core.ErrClosed) {
			t.Errorf("closed, but ids can continue for %v; failing: %v", left, gen.Failing())
		}
	})
}

// One observer gets the events of the generator and of its lease, with the namespace.
func TestOneObserver(t *testing.T) {
	seen := &events{}
	ends := core.Layout{Epoch: time.Now().Add(-time.Hour).Truncate(time.Millisecond), TimeBits: 36, WorkerBits: 4} // in two years
	gen := mustOpen(t, memstore.New(memstore.Config{}), worker.Config{Namespace: "orders", Layout: ends, Observer: seen})
	if err := gen.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	kinds := map[core.EventKind]bool{}
	for _, e := range seen.list {
		kinds[e.Kind] = true
		if e.Namespace != "orders" {
			t.Errorf("%+v", e)
		}
	}
	if len(kinds) != 3 || !kinds[worker.Claimed] || !kinds[core.LayoutExpiring] || !kinds[worker.Released] {
		t.Errorf("%v", kinds)
	}
}

// docs/metrics.md lists the metrics, with the names that Prometheus gives them.
func TestMetricsDocument(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "docs", "metrics.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows, known := map[string]bool{}, map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| `(snowkey_\\w+)` \\| .").FindAllStringSubmatch(string(text), -1) {
		rows[m[1]] = true
	}
	gen := open(worker.Config{})
	defer gen.Close(context.Background())
	for _, m := range gen.Metrics() {
		name := strings.ReplaceAll(m.Name, ".", "_")
		if m.Unit == "s" {
			name += "_seconds"
		}
		if m.Counter {
			name += "_total"
		}
		known[name] = true
	}
	maps.DeleteFunc(rows, func(name string, _ bool) bool { return strings.HasPrefix(name, "snowkey_serve_") })
	if !maps.Equal(rows, known) {
		t.Errorf("docs/metrics.md has %v, want %v", slices.Sorted(maps.Keys(rows)), slices.Sorted(maps.Keys(known)))
	}
}
