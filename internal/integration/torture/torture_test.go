//go:build unix

package torture

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"
)

func stores() []string {
	return []string{"postgres", "mariadb", "redis", "etcd", "sqlite", "httpstore"}
}

// A book that its process has not begun yet.
func isNotYet(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// setting reads a number from the environment.
func setting(t *testing.T, name string, unset uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return unset
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %q is no number", name, text)
	}
	return n
}

// seedOf returns the seed of a run, and logs it.
func seedOf(t *testing.T) uint64 {
	t.Helper()
	seed := setting(t, "SNOWKEY_TORTURE_SEED", rand.Uint64N(1<<32))
	t.Logf("SNOWKEY_TORTURE_SEED=%d", seed)
	return seed
}

// TestFence shows with real processes that no id of a namespace is issued twice. On each
// store, 16 processes compete for eight worker IDs. Each has a clock that steps by up to
// seconds, and at times by more than a minute. It pauses for longer than its fencing window in
// the middle of issuing, draws by Next and Fill with every ClockPolicy, closes, releases, and
// begins again. Processes and stores are stopped and killed at any time; requests and replies
// are lost, late and doubled; an operator frees worker IDs of live holders. Stores forget: they are
// put back to an earlier state, or records or all are deleted, and by no more than the protocol allows:
// not while a floor is ahead of the clock.
//
// The run on one store lasts until enough has happened. These environment variables set what
// is enough, over all stores:
//
//	SNOWKEY_TORTURE_SECONDS    the least time, 56 if not set
//	SNOWKEY_TORTURE_IDS        the least number of ids, 14,000,000 if not set
//	SNOWKEY_TORTURE_PROCESSES  how many compete on each, 16 if not set
//	SNOWKEY_TORTURE_SEED       decides which process is stopped and killed when, and how
//	                           clocks step; the rest is still random
//
// `make torture` asks for a billion ids in ten minutes.
func TestFence(t *testing.T) {
	n := len(stores())
	least := time.Duration(setting(t, "SNOWKEY_TORTURE_SECONDS", 56)) * time.Second / time.Duration(n)
	ids := setting(t, "SNOWKEY_TORTURE_IDS", 14_000_000) / uint64(n)
	seed := seedOf(t)
	var all uint64
	for _, name := range stores() {
		t.Run(name, func(t *testing.T) {
			r := newTorture(t, name, seed, task{Role: holderRole})
			r.forgetful = true
			r.until(func(elapsed time.Duration) bool {
				return elapsed >= least && r.tally[issued] >= ids && r.enough()
			})
			r.end()
			found := r.check()
			suffered, _ := r.happened()
			t.Logf("%d ids in %d intervals, %d duplicates; %d processes, %d killed, %d stopped, %d times one stood still; %d claims, %d takeovers, %d losses; it forgot %d times, %d claims and renewals, was noticed %d times, and %d holders lost by it; %d requests or replies lost, late or doubled; %d times at the fence, %d times no worker ID free, %d claims failed; the store: %s",
				found.ids, found.intervals, found.duplicates, r.started, r.kills, r.stops, r.tally[stalled],
				r.tally[claimed], r.takeovers(), r.tally[lost], r.forgets, r.unwritten, r.tally[noticed], r.tally[forgotten], r.tally[garbled], r.tally[fenced], r.tally[noneFree], r.tally[failed], suffered)
			for _, d := range found.first {
				t.Errorf("DUPLICATE: %s", r.describe(d))
			}
			if found.duplicates > 0 || found.ids != r.tally[issued] {
				t.Errorf("%d duplicates among %d ids, and %d were written down", found.duplicates, found.ids, r.tally[issued])
			}
			all += found.ids
		})
	}
	t.Logf("%d ids in all", all)
}

// enough reports whether each kind of event has happened: otherwise the run shows nothing.
func (r *torture) enough() bool {
	_, suffered := r.happened()
	return suffered && r.tally[noticed]+r.tally[forgotten] > 0 && r.kills >= 10 && r.stops >= 10 && r.takeovers() >= 15 && r.tally[lost] >= 2 &&
		r.tally[stalled] >= 5 && r.tally[garbled] >= 10 && r.tally[fenced] >= 10 && r.tally[noneFree] > 0
}

// TestWithoutFloor is the same with a store that forgets and does not notice it: there are duplicates,
// and the test finds them.
func TestWithoutFloor(t *testing.T) {
	seed := seedOf(t)
	names := []string{"postgres", "redis", "etcd"}
	if os.Getenv("SNOWKEY_TORTURE_SECONDS") != "" {
		names = stores()
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			r := newTorture(t, name, seed, task{Role: holderRole})
			r.forgetful, r.sabotage = true, true
			found := r.untilFound()
			t.Logf("%d ids, %d duplicates after the store forgot %d times, %d claims and renewals: %s", found.ids, found.duplicates, r.forgets, r.unwritten, r.describe(found.first[0]))
		})
	}
}

// untilFound disturbs the processes until there is a duplicate.
func (r *torture) untilFound() (found finding) {
	r.t.Helper()
	r.until(func(time.Duration) bool {
		if r.tally[issued] > 0 {
			found = r.check()
		}
		return found.duplicates > 0
	})
	r.end()
	if found = r.check(); found.duplicates == 0 {
		r.t.Fatalf("no duplicate among %d ids", found.ids)
	}
	return found
}

// TestWithoutFence is the same with worker IDs that are protected by their time to live alone:
// there are duplicates, and the test finds them.
func TestWithoutFence(t *testing.T) {
	seed := seedOf(t)
	for _, name := range []string{"sqlite", "redis"} {
		t.Run(name, func(t *testing.T) {
			r := newTorture(t, name, seed, task{Role: holderRole, Naive: true})
			found := r.untilFound()
			t.Logf("%d ids, %d duplicates after %d takeovers; the first: %s", found.ids, found.duplicates, r.takeovers(), r.describe(found.first[0]))
		})
	}
}
