package driver

import (
	"fmt"

	"github.com/seed-299c1d6b/snowkey/core"
)

// Fingerprint names a layout in the records of a store: two layouts whose ids
// mean the same have the same. It will not change.
func Fingerprint(l core.Layout) string {
	l = l.WithDefaults()
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
