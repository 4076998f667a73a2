package choose

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/worker"
)

// A bound far ahead is a long wait, and no short one of a product that wrapped around.
func TestLongWait(t *testing.T) {
	const now = 1_700_000_000_000
	for _, until := range []int64{now + 1000 + math.MaxInt64/int64(time.Millisecond), 1 << 53, 1 << 62, math.MaxInt64} {
		r := worker.Request{Namespace: "x", WorkerIDs: 1, Preferred: -1, Exclude: -1, Now: now, MaxLead: 1000}
		_, err := Candidates(r, []worker.Record{{FencingToken: 1, Fence: until}}, now, nil)
		var none *worker.NoWorkerIDError
		if !errors.As(err, &none) || none.Wait < 100*365*24*time.Hour {
			t.Errorf("%d: %v", until, err)
		}
	}
}
