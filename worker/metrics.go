package worker

import (
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

// Metrics returns the figures of [Generator.Stats] at present, always in the same order, for
// programs that export them; packages prometheus and otel do. All have the label
// "snowkey.namespace". "snowkey.lease.state" comes once for each state, with its name in a label:
// 1 for the present state, and 0 for the others. There are none for a Generator that does not
// come from Open.
func (g *Generator) Metrics() []core.Metric {
	if !g.opened() {
		return nil
	}
	list, st := g.ids.Metrics(), g.lease.Stats()
	for i := range list {
		if list[i].Name == "snowkey.fence.left" {
			list[i].Value = st.Left.Seconds() // the lease knows about jumps of the clock
		}
	}
	list = append(list,
		core.Metric{Name: "snowkey.lease.claims", Unit: "{claim}", Counter: true, Value: float64(st.Claims),
			Help: "Worker IDs claimed, the first included."},
		core.Metric{Name: "snowkey.lease.renewals", Unit: "{renewal}", Counter: true, Value: float64(st.Renewals),
			Help: "Renewals that the store has acknowledged."},
		core.Metric{Name: "snowkey.lease.losses", Unit: "{loss}", Counter: true, Value: float64(st.Losses),
			Help: "Worker IDs lost to other holders."},
		core.Metric{Name: "snowkey.lease.failures", Unit: "{request}", Counter: true, Value: float64(st.Failures),
			Help: "Requests that the store refused or did not answer."},
		core.Metric{Name: "snowkey.lease.failing", Unit: "s", Value: secondsSince(st.Since),
			Help: "For how long requests to the store have been failing; 0 if the last one did not."},
		core.Metric{Name: "snowkey.lease.fenced", Unit: "s", Value: secondsSince(st.FencedSince),
			Help: "For how long no id could be issued; 0 while ids can."},
		core.Metric{Name: "snowkey.lease.clock_ahead", Unit: "s", Value: st.ClockAhead.Seconds(),
			Help: "How far the wall clock is ahead of the ids' time after a jump that the store has not confirmed."},
	)
	labels := map[string]string{"snowkey.namespace": st.Namespace}
	for i := range list {
		list[i].Labels = labels
	}
	for s := held; s <= ended; s++ {
		m := core.Metric{Name: "snowkey.lease.state", Help: "1 for the state of the lease, 0 for the others.",
			Labels: map[string]string{"snowkey.namespace": st.Namespace, "snowkey.lease.state": s.String()}}
		if s.String() == st.State {
			m.Value = 1
		}
		list = append(list, m)
	}
	return list
}

// secondsSince is at least a nanosecond for a time that is set, however coarse the clock is.
func secondsSince(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return max(time.Since(t), 1).Seconds()
}
