package driver

import (
	"cmp"
	"math"
	"slices"
	"time"
)

const (
	shuffledUsed  = 8  // how many of the worker IDs that were held before are as good as each other
	shuffledFresh = 64 // how many of those that were never held
	minWait       = time.Millisecond
	maxWait       = int64(math.MaxInt64 / time.Millisecond) // in milliseconds, the longest Duration
)

// Candidates returns the worker IDs to try for a claim, the best first. One that was never
// held has the fencing token 0. records are all records of the namespace; now is the
// store's clock. shuffle, which may be nil, has the form of [math/rand/v2.Shuffle]: it keeps
// claimants that come at the same time apart. If there is no candidate, the error is a
// [*NoWorkerIDError].
//
// The order: the preferred worker ID; those whose fence is behind the claimant's clock;
// those never held; those whose fence is ahead of the clock, the nearest first.
func Candidates(r Request, records []Record, now int64, shuffle func(n int, swap func(i, j int))) ([]Record, error) {
	var preferred, behind, fresh, ahead []Record
	known := make(map[int64]bool, len(records))
	none := NoWorkerIDError{Namespace: r.Namespace, WorkerIDs: r.WorkerIDs}
	if r.RequirePreferred {
		none.WorkerIDs = 1
	}
	wait := int64(math.MaxInt64)
	for _, rec := range records {
		known[rec.Worker] = true
		if r.RequirePreferred && rec.Worker != r.Preferred || rec.Worker >= r.WorkerIDs {
			continue
		}
		switch lead := rec.Fence - r.Now; {
		case !rec.Free(now):
			none.Leased++
			if rec.Expires < NoTTL {
				wait = min(wait, rec.Expires+1-now)
			}
		case !r.allows(rec.Worker):
		case lead > r.MaxLead:
			none.Ahead++
			wait = min(wait, lead-r.MaxLead)
		case rec.Worker == r.Preferred:
			preferred = append(preferred, rec)
		case lead > 0:
			ahead = append(ahead, rec)
		default:
			behind = append(behind, rec)
		}
	}
	if p := r.Preferred; p >= 0 && !known[p] && r.allows(p) {
		preferred = append(preferred, Record{Worker: p})
	}
	for id := int64(0); id < r.WorkerIDs && len(fresh) < shuffledFresh && !r.RequirePreferred; id++ {
		if !known[id] && id != r.Preferred && r.allows(id) {
			fresh = append(fresh, Record{Worker: id})
		}
	}
	byFence := func(a, b Record) int {
		return cmp.Or(cmp.Compare(a.Fence, b.Fence), cmp.Compare(a.Worker, b.Worker))
	}
	slices.SortFunc(behind, byFence)
	slices.SortFunc(ahead, byFence)
	if shuffle != nil {
		mix := func(records []Record) {
			shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
		}
		mix(behind[:min(shuffledUsed, len(behind))])
		mix(fresh)
	}
	all := slices.Concat(preferred, behind, fresh, ahead)
	if len(all) == 0 {
		if wait < math.MaxInt64 {
			none.Wait = max(time.Duration(min(wait, maxWait))*time.Millisecond, minWait)
		}
		return nil, &none
	}
	return all, nil
}
