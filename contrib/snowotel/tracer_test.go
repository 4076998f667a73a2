package snowotel_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/seed-299c1d6b/snowkey/contrib/snowotel"
	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/snowkeytest"
	"github.com/seed-299c1d6b/snowkey/worker"
)

const answersIn = 30 * time.Millisecond

// count is the next observer.
type count struct{ n atomic.Int64 }

func (c *count) Observe(core.Event) { c.n.Add(1) }

// trial is a lease in a bubble, and the spans that it has made.
type trial struct {
	*testing.T
	store *snowkeytest.Store
	gen   *worker.Generator
	spans *tracetest.InMemoryExporter
	next  count
}

func inTrial(t *testing.T, f func(w *trial)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &trial{T: t, store: snowkeytest.NewStore(t, nil), spans: tracetest.NewInMemoryExporter()}
		w.store.Slow(answersIn)
		provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(w.spans))
		tracer := snowotel.NewTracer(snowotel.TracerConfig{TracerProvider: provider, Next: &w.next})
		gen, err := worker.Open(t.Context(), w.store, worker.Config{
			Namespace: "orders", Observer: tracer,
			Layout: core.Layout{Epoch: time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC), TimeBits: 41, WorkerBits: 4, SequenceBits: 12},
		})
		must(t, err)
		w.gen = gen
		f(w)
		w.store.Fail(nil)
		_ = gen.Close(context.Background())
	})
}

// take returns the spans until now that have the name, and checks what all have in common.
func (w *trial) take(name string) (list []tracetest.SpanStub) {
	w.Helper()
	synctest.Wait()
	for _, s := range w.spans.GetSpans() {
		if s.Name != name {
			continue
		}
		list = append(list, s)
		attributes := attribute.NewSet(s.Attributes...)
		namespace, _ := attributes.Value("snowkey.namespace")
		_, ok := attributes.Value("snowkey.worker.id")
		left, leftOK := attributes.Value("snowkey.fence.left")
		if namespace.AsString() != "orders" || !ok || !leftOK || left.AsFloat64() < 0 || left.AsFloat64() > 30 || s.Parent.IsValid() {
			w.Errorf("%s has the attributes %v and the parent %v", name, s.Attributes, s.Parent)
		}
		if s.Status.Code == codes.Error != (len(s.Events) > 0) {
			w.Errorf("%s has the status %v and the events %v", name, s.Status, s.Events)
		}
	}
	return list
}

func duration(s tracetest.SpanStub) time.Duration { return s.EndTime.Sub(s.StartTime) }

// Each request is a span that is as long as the store took.
func TestRequests(t *testing.T) {
	inTrial(t, func(w *trial) {
		time.Sleep(time.Minute)
		if err := w.gen.Close(w.Context()); err != nil {
			w.Fatal(err)
		}
		for name, least := range map[string]int{"snowkey.lease.claim": 1, "snowkey.lease.renew": 6, "snowkey.lease.release": 1} {
			spans := w.take(name)
			if len(spans) < least || least == 1 && len(spans) != 1 {
				w.Errorf("%d spans %s", len(spans), name)
			}
			for _, s := range spans {
				if duration(s) != answersIn || s.Status.Code != codes.Unset {
					w.Errorf("%s took %v, %v", name, duration(s), s.Status)
				}
			}
		}
		if n := int64(len(w.spans.GetSpans())); w.next.n.Load() != n {
			w.Errorf("%d spans, and the next observer got %d events", n, w.next.n.Load())
		}
	})
}

// Renewals that fail say why. The time without ids is a span.
func TestOutage(t *testing.T) {
	inTrial(t, func(w *trial) {
		w.store.Fail(errors.New("the store is down"))
		time.Sleep(2 * time.Minute)
		w.store.Fail(nil)
		time.Sleep(5 * time.Second)
		failed := 0
		for _, s := range w.take("snowkey.lease.renew") {
			if s.Status.Code == codes.Error {
				failed++
				if e := s.Events[0]; e.Name != "exception" || !e.Time.Equal(s.EndTime) || duration(s) != answersIn {
					w.Errorf("%v, event %v at %v", duration(s), e.Name, e.Time)
				}
			}
		}
		if failed < 100 {
			w.Errorf("%d renewals failed", failed)
		}
		fenced := w.take("snowkey.lease.fenced")
		if len(fenced) != 1 || duration(fenced[0]) < 85*time.Second || duration(fenced[0]) > 105*time.Second {
			w.Errorf("%v", fenced)
		}
	})
}

// The renewal that finds the loss has an event, and a claim follows.
func TestLoss(t *testing.T) {
	inTrial(t, func(w *trial) {
		w.store.Lose()
		time.Sleep(time.Minute)
		lost := 0
		for _, s := range w.take("snowkey.lease.renew") {
			if s.Status.Code != codes.Error {
				continue
			}
			lost++
			if len(s.Events) != 2 || s.Events[0].Name != "snowkey.lease.lost" || s.Events[1].Name != "exception" || duration(s) != answersIn {
				w.Errorf("%v, %v", s.Events, duration(s))
			}
		}
		if claims := w.take("snowkey.lease.claim"); lost != 1 || len(claims) != 2 {
			w.Errorf("%d losses, %d claims", lost, len(claims))
		}
	})
}

// Without a provider there are no spans, and events reach the next observer.
func TestNoProvider(t *testing.T) {
	var next count
	for _, tracer := range []*snowotel.Tracer{nil, {}, snowotel.NewTracer(snowotel.TracerConfig{Next: &next}), snowotel.NewTracer(snowotel.TracerConfig{})} {
		for _, kind := range []core.EventKind{worker.Claimed, worker.Resumed, worker.Fenced, core.ClockStepBack} {
			tracer.Observe(core.Event{Kind: kind, Namespace: "orders"})
		}
	}
	if n := next.n.Load(); n != 4 {
		t.Errorf("the next observer got %d events", n)
	}
}
