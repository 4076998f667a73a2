package snowotel

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
)

// TracerConfig configures a Tracer. The zero value is ready for use.
type TracerConfig struct {
	TracerProvider trace.TracerProvider // nil: the global one
	Next           core.Observer        // receives every event as well, for example core.LogTo(logger); nil: none
}

// A Tracer observes leases and records spans for their events. Make it with NewTracer; the zero
// value and nil record no spans. It may observe several leases of different namespaces. It is safe
// for concurrent use.
//
// Each request to the store is a span:
//
//	snowkey.lease.claim    a worker ID is claimed
//	snowkey.lease.renew    the fence is raised, every ten seconds
//	snowkey.lease.release  the worker ID is returned
//
// If the request fails, the span has the status Error and the error as an event. If a renewal finds
// that the worker ID is lost, its span also has the event snowkey.lease.lost. While Open repeats
// claims, only the successful one gets a span.
//
// If ids stop at the fence, the time until they continue is the span snowkey.lease.fenced. It is
// recorded when they continue.
//
// All spans are roots, because no caller waits for these requests. Their attributes are
// snowkey.namespace, snowkey.worker.id, and snowkey.fence.left in seconds. Events of a generator
// make no spans.
type Tracer struct {
	tracer trace.Tracer
	next   core.Observer

	mu     sync.Mutex
	fenced map[string]time.Time // by namespace
}

var _ core.Observer = (*Tracer)(nil)

// NewTracer returns a tracer, for worker.Config.Observer.
func NewTracer(cfg TracerConfig) *Tracer {
	provider := cfg.TracerProvider
	if provider == nil {
		provider = otel.GetTracerProvider()
	}
	return &Tracer{tracer: provider.Tracer(scope), next: cfg.Next, fenced: make(map[string]time.Time)}
}

// Observe implements core.Observer.
func (t *Tracer) Observe(e core.Event) {
	if t == nil || t.tracer == nil {
		return
	}
	now := time.Now()
	switch e.Kind {
	case worker.Claimed, worker.ClaimFailed:
		t.span("snowkey.lease.claim", e, now.Add(-e.Elapsed), now)
	case worker.Renewed, worker.RenewFailed:
		t.span("snowkey.lease.renew", e, now.Add(-e.Elapsed), now)
	case worker.Lost:
		t.span("snowkey.lease.renew", e, now.Add(-e.Elapsed), now, "snowkey.lease.lost")
	case worker.Released, worker.ReleaseFailed:
		t.span("snowkey.lease.release", e, now.Add(-e.Elapsed), now)
	case worker.Fenced:
		t.mu.Lock()
		t.fenced[e.Namespace] = now
		t.mu.Unlock()
	case worker.Resumed:
		t.mu.Lock()
		began, ok := t.fenced[e.Namespace]
		delete(t.fenced, e.Namespace)
		t.mu.Unlock()
		if ok {
			t.span("snowkey.lease.fenced", e, began, now)
		}
	}
	if t.next != nil {
		t.next.Observe(e)
	}
}

func (t *Tracer) span(name string, e core.Event, began, ended time.Time, events ...string) {
	_, span := t.tracer.Start(context.Background(), name, trace.WithTimestamp(began), trace.WithNewRoot(), trace.WithAttributes(
		attribute.String(namespaceKey, e.Namespace),
		attribute.Int64("snowkey.worker.id", e.Worker),
		attribute.Float64("snowkey.fence.left", e.Duration.Seconds()),
	))
	at := trace.WithTimestamp(ended)
	for _, event := range events {
		span.AddEvent(event, at)
	}
	if e.Err != nil {
		span.RecordError(e.Err, at)
		span.SetStatus(codes.Error, e.Err.Error())
	}
	span.End(at)
}
