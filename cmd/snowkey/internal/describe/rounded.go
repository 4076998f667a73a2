package describe

import (
	"math"
	"math/bits"
	"slices"
	"strconv"

	"github.com/seed-299c1d6b/snowkey/core"
)

// Rounded says what a number above 2^53 was before rounding: one of Count ids from First to Last. It may
// also be a genuine id: about one in that many ids looks rounded.
type Rounded struct {
	By     string      `json:"by"` // javascript, or spreadsheet: they keep 15 digits
	First  string      `json:"first"`
	Last   string      `json:"last"`
	Count  int64       `json:"count"`
	Likely []Candidate `json:"likely"` // the likeliest, best first
}

// A Candidate is an id that the number may have been before rounding.
type Candidate struct {
	ID       string `json:"id"`
	WorkerID int64  `json:"worker_id"`
	Sequence int64  `json:"sequence"`
}

// likeliest is the number of candidates that are named.
const likeliest = 5

// LooksRounded reports whether JavaScript could have printed these digits for a rounded number above 2^53,
// and the probability that an id that was not rounded looks the same.
func LooksRounded(id int64) (rounded bool, chance float64) {
	if id < 1<<53 {
		return false, 0
	}
	chance = math.Ldexp(1, 53-bits.Len64(uint64(id)))
	return strconv.FormatFloat(float64(id), 'f', -1, 64) == strconv.FormatInt(id, 10), chance
}

// NewRounded returns what an id was before it was rounded, or nil if it does not look rounded. All ids that
// JavaScript rounds to this number are candidates; a spreadsheet cuts or rounds to 15 digits. The best
// candidates have a worker ID in use, a low sequence number, as generators count from 0, and are near.
func NewRounded(l core.Layout, id int64, workers []int64) *Rounded {
	if rounded, _ := LooksRounded(id); !rounded {
		return nil
	}
	by, low, high := "javascript", id, id
	if zeros := int64(math.Pow10(len(strconv.FormatInt(id, 10)) - 15)); id%zeros == 0 && zeros > 10 {
		by, low, high = "spreadsheet", id-zeros/2, id+min(zeros-1, math.MaxInt64-id)
	} else {
		for float64(low-1) == float64(id) {
			low--
		}
		for high < math.MaxInt64 && float64(high+1) == float64(id) {
			high++
		}
	}
	type candidate struct{ id, unknown, worker, sequence, rank, far int64 }
	workerShift, sequenceShift := l.SequenceBits, uint8(0)
	if l.SequenceFirst {
		workerShift, sequenceShift = 0, l.DatacenterBits+l.WorkerBits
	}
	var best []candidate
	for n, count := low, high-low+1; count > 0; n, count = n+1, count-1 {
		if n>>min(lowBits(l)+int(l.TimeBits), 63) != 0 {
			continue // not of this layout
		}
		worker := n >> workerShift & (1<<(l.DatacenterBits+l.WorkerBits) - 1)
		sequence := n >> sequenceShift & (1<<l.SequenceBits - 1)
		c := candidate{n, 0, worker, sequence, sequence, max(n-id, id-n)}
		if len(workers) > 0 && !slices.Contains(workers, worker) {
			c.unknown = 1
		}
		if l.WorkerIDs() == 1 {
			c.rank = 0 // its sequence is mostly random
		}
		at, _ := slices.BinarySearchFunc(best, c, func(a, b candidate) int {
			return slices.Compare([]int64{a.unknown, a.rank, a.far, a.id}, []int64{b.unknown, b.rank, b.far, b.id})
		})
		if best = slices.Insert(best, at, c); len(best) > likeliest {
			best = best[:likeliest]
		}
	}
	r := &Rounded{By: by, First: Decimal.Text(low, false), Last: Decimal.Text(high, false), Count: high - low + 1, Likely: []Candidate{}}
	for _, c := range best {
		r.Likely = append(r.Likely, Candidate{Decimal.Text(c.id, false), c.worker, c.sequence})
	}
	return r
}
