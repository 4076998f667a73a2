package driver

import (
	"errors"
	"math"
	"testing"
	"time"
)

// A fence far ahead is a long wait: the product must not overflow.
func TestLongWait(t *testing.T) {
	const now = 1_700_000_000_000
	for _, until := range []int64{now + 1000 + math.MaxInt64/int64(time.Millisecond), 1 << 53, 1 << 62, math.MaxInt64} {
		r := Request{Namespace: "x", WorkerIDs: 1, Preferred: -1, Exclude: -1, Now: now, MaxLead: 1000}
		_, err := Candidates(r, []Record{{FencingToken: 1, Fence: until}}, now, nil)
		var none *NoWorkerIDError
		if !errors.As(err, &none) || none.Wait < 100*365*24*time.Hour {
			t.Errorf("%d: %v", until, err)
		}
	}
}
