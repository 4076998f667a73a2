package describe

import (
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

// Compose fills ids with those of one tick of a worker ID, from a sequence number on. They
// are bounds or test data: a generator may issue the same ones.
func Compose(l core.Layout, worker int64, at time.Time, sequence int64, ids []int64) error {
	parts := core.Parts{Time: at, Datacenter: worker >> l.WorkerBits, Worker: worker & (int64(1)<<l.WorkerBits - 1)}
	for i := range ids {
		parts.Sequence = sequence + int64(i)
		id, err := l.Compose(parts)
		if err != nil {
			return err
		}
		ids[i] = id
	}
	return nil
}
