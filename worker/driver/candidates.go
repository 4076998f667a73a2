package driver

import (
	"cmp"
	"math"
	"slices"
	"time"
)

const (
	several     = 8  // so many numbers that were held before are as good as each other
	severalNew  = 64 // and so many that never were
	atLeastWait = time.Millisecond
	mostWait    = int64(math.MaxInt64 / time.Millisecond) // in milliseconds, what a Duration can say
)

// Candidates gives the numbers to try for a claim, best first, those never held
// with an epoch of 0. rows are all rows of the space; now is the store's clock.
// Where many claim at once, shuffle keeps them off each other's number; it may be
// nil. The error is a *NoWorkerIDError.
//
// The order: the preferred number; numbers whose bound lies behind the claimant's
// clock; numbers never held; numbers whose bound lies ahead, the nearest first.
func Candidates(r Request, rows []Record, now int64, shuffle func(n int, swap func(i, j int))) ([]Record, error) {
	var preferred, behind, fresh, ahead []Record
	known := make(map[int64]bool, len(rows))
	none := NoWorkerIDError{Namespace: r.Namespace, WorkerIDs: r.WorkerIDs}
	if r.RequirePreferred {
		none.WorkerIDs = 1
	}
	wait := int64(math.MaxInt64)
	for _, row := range rows {
		known[row.Worker] = true
		if r.RequirePreferred && row.Worker != r.Preferred || row.Worker >= r.WorkerIDs {
			continue
		}
		switch lead := row.Fence - r.Now; {
		case !row.Free(now):
			none.Leased++
			if row.Expires < NoTTL {
				wait = min(wait, row.Expires+1-now)
			}
		case !r.Allows(row.Worker):
		case lead > r.MaxLead:
			none.Ahead++
			wait = min(wait, lead-r.MaxLead)
		case row.Worker == r.Preferred:
			preferred = append(preferred, row)
		case lead > 0:
			ahead = append(ahead, row)
		default:
			behind = append(behind, row)
		}
	}
	if p := r.Preferred; p >= 0 && !known[p] && r.Allows(p) {
		preferred = append(preferred, Record{Worker: p})
	}
	for n := int64(0); n < r.WorkerIDs && len(fresh) < severalNew && !r.RequirePreferred; n++ {
		if !known[n] && n != r.Preferred && r.Allows(n) {
			fresh = append(fresh, Record{Worker: n})
		}
	}
	byBound := func(a, b Record) int {
		return cmp.Or(cmp.Compare(a.Fence, b.Fence), cmp.Compare(a.Worker, b.Worker))
	}
	slices.SortFunc(behind, byBound)
	slices.SortFunc(ahead, byBound)
	if shuffle != nil {
		mix := func(rows []Record) { shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] }) }
		mix(behind[:min(several, len(behind))])
		mix(fresh)
	}
	all := slices.Concat(preferred, behind, fresh, ahead)
	if len(all) == 0 {
		if wait < math.MaxInt64 {
			none.Wait = max(time.Duration(min(wait, mostWait))*time.Millisecond, atLeastWait)
		}
		return nil, &none
	}
	return all, nil
}
