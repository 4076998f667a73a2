// Package metrics lists the metrics of generators and leases, which packages otel and
// prometheus export under the names of their field.
package metrics

import (
	"strings"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
)

// A Metric is one figure of a generator or its lease.
type Metric struct {
	Name    string // by the conventions of OpenTelemetry
	Unit    string // of UCUM; empty: none
	Counter bool   // otherwise it is a gauge
	Whole   bool   // its values are whole numbers
	Help    string

	generator func(core.Stats) float64
	lease     func(worker.Stats) float64
	both      func(s snapshot) (value float64, ok bool)
}

// NamespaceKey and StateKey are the attributes of the metrics. All have the namespace;
// [State] also has the state.
const (
	NamespaceKey = "snowkey.namespace"
	StateKey     = "snowkey.lease.state"
)

// States are the states of a lease after Acquire has returned.
func States() []string {
	return []string{"held", "checking", "rotating", "lost", "releasing", "ended"}
}

// State is 1 for the state that the lease is in, and 0 for each other state.
func State() Metric {
	return Metric{Name: StateKey, Whole: true, Help: "1 for the state of the lease, 0 for the others."}
}

// List returns all metrics but [State].
func List() []Metric {
	return []Metric{
		{Name: "snowkey.ids.issued", Unit: "{id}", Counter: true, Whole: true,
			Help:      "Ids taken from the generator, including those of a cancelled Fill.",
			generator: func(s core.Stats) float64 { return float64(s.Issued) }},
		{Name: "snowkey.calls.waited", Unit: "{call}", Counter: true, Whole: true,
			Help:      "Calls of Next and Fill that had to wait.",
			generator: func(s core.Stats) float64 { return float64(s.Waited) }},
		{Name: "snowkey.calls.exhausted", Unit: "{call}", Counter: true, Whole: true,
			Help:      "Calls that had to wait because all ids of a tick were issued.",
			generator: func(s core.Stats) float64 { return float64(s.Exhausted) }},
		{Name: "snowkey.clock.steps_back", Unit: "{step}", Counter: true, Whole: true,
			Help:      "Steps back of the wall clock by a millisecond or more.",
			generator: func(s core.Stats) float64 { return float64(s.StepsBack) }},
		{Name: "snowkey.clock.largest_step_back", Unit: "s",
			Help:      "The largest step back of the wall clock since the generator was made.",
			generator: func(s core.Stats) float64 { return s.LargestStepBack.Seconds() }},
		{Name: "snowkey.ids.ahead", Unit: "s",
			Help:      "How far the time of the last id is ahead of the wall clock; 0 if it is not.",
			generator: func(s core.Stats) float64 { return s.Ahead.Seconds() }},
		{Name: "snowkey.layout.left", Unit: "s",
			Help:      "How long until the time of the layout runs out, at most 292 years.",
			generator: func(s core.Stats) float64 { return s.LayoutLeft.Seconds() }},
		{Name: "snowkey.cpu_counter.trusted", Whole: true,
			Help:      "1 if the processor's counter is trusted, 0 if every id reads the clock.",
			generator: func(s core.Stats) float64 { return truth(s.Counter) }},
		{Name: "snowkey.worker.id", Whole: true,
			Help: "The worker ID that ids carry: datacenter<<WorkerBits | worker.",
			both: snapshot.worker},
		{Name: "snowkey.fence.left", Unit: "s",
			Help: "How long ids can continue without a renewal; 0 if they have reached the fence, or the lease was released.",
			both: snapshot.fenceLeft},

		{Name: "snowkey.lease.claims", Unit: "{claim}", Counter: true, Whole: true,
			Help:  "Worker IDs claimed, the first included.",
			lease: func(s worker.Stats) float64 { return float64(s.Claims) }},
		{Name: "snowkey.lease.renewals", Unit: "{renewal}", Counter: true, Whole: true,
			Help:  "Renewals that the store has acknowledged.",
			lease: func(s worker.Stats) float64 { return float64(s.Renewals) }},
		{Name: "snowkey.lease.losses", Unit: "{loss}", Counter: true, Whole: true,
			Help:  "Worker IDs lost to other holders.",
			lease: func(s worker.Stats) float64 { return float64(s.Losses) }},
		{Name: "snowkey.lease.failures", Unit: "{request}", Counter: true, Whole: true,
			Help:  "Requests that the store refused or did not answer.",
			lease: func(s worker.Stats) float64 { return float64(s.Failures) }},
		{Name: "snowkey.lease.failing", Unit: "s",
			Help:  "For how long requests to the store have been failing; 0 if the last one did not.",
			lease: func(s worker.Stats) float64 { return since(s.Since) }},
		{Name: "snowkey.lease.fenced", Unit: "s",
			Help:  "For how long no id could be issued; 0 while ids can.",
			lease: func(s worker.Stats) float64 { return since(s.FencedSince) }},
		{Name: "snowkey.lease.clock_ahead", Unit: "s",
			Help:  "How far the wall clock is ahead of the ids' time after a jump that the store has not confirmed.",
			lease: func(s worker.Stats) float64 { return s.ClockAhead.Seconds() }},
	}
}

// OfLease reports whether only a lease has the metric.
func (m Metric) OfLease() bool { return m.lease != nil || m.Name == StateKey }

// Prometheus returns the metric's name by the conventions of Prometheus: the name that the
// exporters of OpenTelemetry make of it.
func (m Metric) Prometheus() string {
	name := Label(m.Name)
	if m.Unit == "s" {
		name += "_seconds"
	}
	if m.Counter {
		name += "_total"
	}
	return name
}

// Label returns the label that Prometheus has for an attribute.
func Label(key string) string { return strings.ReplaceAll(key, ".", "_") }

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// since is at least a nanosecond for a time that is set, however coarse the clock is.
func since(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return max(time.Since(t), 1).Seconds()
}
