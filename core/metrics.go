package core

// A Metric is one figure of a generator, for programs that export it. Its name and its unit follow
// the conventions of OpenTelemetry.
type Metric struct {
	Name    string // such as "snowkey.ids.issued"
	Help    string
	Unit    string // such as "s" or "{id}"; empty: none. Only values in seconds have fractions.
	Counter bool   // it never falls; otherwise it is a gauge
	Value   float64
	Labels  map[string]string // such as "snowkey.namespace": "orders"; nil: none. Do not change it.
}

// Metrics returns the figures of [Generator.Stats] at present, always in the same order. A
// generator without a fence has no "snowkey.fence.left". There are none for nil and for a zero
// Generator.
func (g *Generator) Metrics() []Metric {
	if g == nil || g.current.Load() == nil {
		return nil
	}
	st := g.Stats()
	trusted := 0.0
	if st.Counter {
		trusted = 1
	}
	list := []Metric{
		{Name: "snowkey.ids.issued", Unit: "{id}", Counter: true, Value: float64(st.Issued),
			Help: "Ids taken from the generator, including those of a cancelled Fill."},
		{Name: "snowkey.calls.waited", Unit: "{call}", Counter: true, Value: float64(st.Waited),
			Help: "Calls of Next and Fill that had to wait."},
		{Name: "snowkey.calls.exhausted", Unit: "{call}", Counter: true, Value: float64(st.Exhausted),
			Help: "Calls that had to wait because all ids of a tick were issued."},
		{Name: "snowkey.clock.steps_back", Unit: "{step}", Counter: true, Value: float64(st.StepsBack),
			Help: "Steps back of the wall clock by a millisecond or more."},
		{Name: "snowkey.clock.largest_step_back", Unit: "s", Value: st.LargestStepBack.Seconds(),
			Help: "The largest step back of the wall clock since the generator was made."},
		{Name: "snowkey.ids.ahead", Unit: "s", Value: st.Ahead.Seconds(),
			Help: "How far the time of the last id is ahead of the wall clock; 0 if it is not."},
		{Name: "snowkey.layout.left", Unit: "s", Value: st.LayoutLeft.Seconds(),
			Help: "How long until the time of the layout runs out, at most 292 years."},
		{Name: "snowkey.cpu_counter.trusted", Value: trusted,
			Help: "1 if the processor's counter is trusted, 0 if every id reads the clock."},
		{Name: "snowkey.worker.id", Value: float64(st.Worker),
			Help: "The worker ID that ids carry: datacenter<<WorkerBits | worker."},
	}
	if st.HasFence {
		list = append(list, Metric{Name: "snowkey.fence.left", Unit: "s", Value: st.FenceLeft.Seconds(),
			Help: "How long ids can continue without a renewal; 0 if they have reached the fence, or the lease was released."})
	}
	return list
}
