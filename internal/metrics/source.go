package metrics

import (
	"cmp"
	"errors"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/fields"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// A Source is what the metrics are of.
type Source struct {
	Generator *core.Generator
	Lease     *worker.Lease
	Namespace string
}

// Check returns the source with its namespace, or a *core.ConfigError of the package.
func (s Source) Check(pkg string) (Source, error) {
	var wrong fields.Errors
	switch {
	case s.Generator == nil && s.Lease == nil:
		wrong.Add("Generator", nil, "is required, unless Lease is set")
	case s.Generator != nil && s.Generator.Stats() == core.Stats{}: // the time left of a layout is never zero when a generator is made
		wrong.Add("Generator", "zero", "must come from core.New")
	}
	if s.Namespace != "" {
		var config *core.ConfigError
		if errors.As(driver.CheckNamespace(s.Namespace), &config) {
			wrong = append(wrong, config.Fields...)
		}
	}
	if s.Lease != nil {
		leased := s.Lease.Stats().Namespace
		switch {
		case leased == "":
			wrong.Add("Lease", "not acquired", "must come from worker.Acquire")
		case s.Namespace != "" && s.Namespace != leased:
			wrong.Add("Namespace", s.Namespace, "must be the lease's, %q, or empty", leased)
		}
		s.Namespace = leased
	}
	s.Namespace = cmp.Or(s.Namespace, "default")
	return s, wrong.Err(pkg)
}

// Metrics returns the metrics that the source has, without [State].
func (s Source) Metrics() []Metric {
	var list []Metric
	for _, m := range List() {
		if m.lease != nil && s.Lease == nil || m.generator != nil && s.Generator == nil {
			continue
		}
		list = append(list, m)
	}
	return list
}

// Read calls each with the values of the metrics, in their order, from one snapshot. A metric that
// has no value at present is left out. It returns the state of the lease, or "" without a lease.
func (s Source) Read(list []Metric, each func(i int, value float64)) (state string) {
	now := snapshot{leased: s.Lease != nil, generating: s.Generator != nil}
	if now.generating {
		now.generator = s.Generator.Stats()
	}
	if now.leased {
		now.lease = s.Lease.Stats()
	}
	for i, m := range list {
		switch {
		case m.generator != nil:
			each(i, m.generator(now.generator))
		case m.lease != nil:
			each(i, m.lease(now.lease))
		default:
			if value, ok := m.both(now); ok {
				each(i, value)
			}
		}
	}
	return now.lease.State
}

// snapshot is what a generator and its lease say at one time.
type snapshot struct {
	generator          core.Stats
	lease              worker.Stats
	generating, leased bool
}

// worker is the generator's: it leaves a lost worker ID later than the lease does.
func (s snapshot) worker() (float64, bool) {
	if s.generating {
		return float64(s.generator.Worker), true
	}
	return float64(s.lease.Worker), true
}

// fenceLeft is the lease's, which knows about jumps of the clock. Other sources of grants may
// have a fence or not.
func (s snapshot) fenceLeft() (float64, bool) {
	if s.leased {
		return s.lease.Left.Seconds(), true
	}
	return s.generator.FenceLeft.Seconds(), s.generator.HasFence
}
