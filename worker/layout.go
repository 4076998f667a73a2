package worker

import (
	"fmt"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

// resolved puts what the zero fields of a valid layout stand for in their place.
func resolved(l core.Layout) core.Layout {
	std := core.Twitter()
	if l.Epoch.IsZero() {
		l.Epoch = std.Epoch
	}
	if l.Tick == 0 {
		l.Tick = time.Millisecond
	}
	if l.TimeBits|l.RollbackBits|l.DatacenterBits|l.WorkerBits|l.SequenceBits == 0 {
		l.TimeBits, l.DatacenterBits, l.WorkerBits, l.SequenceBits = std.TimeBits, std.DatacenterBits, std.WorkerBits, std.SequenceBits
	}
	return l
}

// Fingerprint names a layout in the records of a store: two layouts whose ids
// mean the same have the same. It will not change.
func Fingerprint(l core.Layout) string {
	l = resolved(l)
	order := "worker,sequence"
	if l.SequenceFirst {
		order = "sequence,worker"
	}
	sign := "signed"
	if l.Unsigned {
		sign = "unsigned"
	}
	return fmt.Sprintf("epoch=%d tick=%d time=%d rollback=%d datacenter=%d worker=%d sequence=%d order=%s %s",
		l.Epoch.UnixMilli(), l.Tick.Milliseconds(), l.TimeBits, l.RollbackBits, l.DatacenterBits, l.WorkerBits, l.SequenceBits, order, sign)
}
