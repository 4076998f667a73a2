package worker_test

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// simulate runs one seed.
func simulate(t *testing.T, seed uint64, b breakage, logged bool) (s *sim) {
	synctest.Test(t, func(*testing.T) {
		s = newSim(seed, b, logged)
		s.run()
		for _, p := range s.procs {
			for _, gen := range append(p.zombies, p.gen) {
				if gen != nil {
					gen.Close()
				}
			}
		}
	})
	return s
}

// number is an environment variable's, or its default.
func number(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// simLimit is after how long a slow machine makes do with simLeast of the default
// number of seeds.
const (
	simLimit = 3 * time.Minute
	simLeast = 500
)

// TestSimulation runs SNOWKEY_SIM_SEEDS seeds (10,000), or the one seed
// SNOWKEY_SIM_SEED again, with all that happened.
func TestSimulation(t *testing.T) {
	if os.Getenv("SNOWKEY_SIM_SEED") != "" {
		s := simulate(t, number(t, "SNOWKEY_SIM_SEED", 0), sound, true)
		t.Log("\n" + strings.Join(s.log, "\n"))
		if s.twice != "" || s.stuck != "" {
			t.Error(s.twice, s.stuck)
		}
		return
	}
	seeds := number(t, "SNOWKEY_SIM_SEEDS", 10_000)
	limited := os.Getenv("SNOWKEY_SIM_SEEDS") == ""
	if testing.Short() {
		seeds = min(seeds, simLeast)
	}
	var next, ran, ids atomic.Uint64
	var mu sync.Mutex
	var faults [faultKinds]int
	changes := map[string]int{}
	began := time.Now()
	t.Run("seeds", func(t *testing.T) {
		for range runtime.GOMAXPROCS(0) {
			t.Run("", func(t *testing.T) {
				t.Parallel()
				for seed := next.Add(1); seed <= seeds && !t.Failed() && (!limited || seed <= simLeast || time.Since(began) < simLimit); seed = next.Add(1) {
					s := simulate(t, seed, sound, false)
					if s.twice != "" || s.stuck != "" {
						t.Errorf("SNOWKEY_SIM_SEED=%d: %s%s", seed, s.twice, s.stuck)
					}
					ran.Add(1)
					ids.Add(uint64(len(s.issued)))
					mu.Lock()
					for i, n := range s.faults {
						faults[i] += n
					}
					for change, n := range s.changes {
						changes[change] += n
					}
					mu.Unlock()
				}
			})
		}
	})
	seeds = ran.Load()
	t.Logf("%d seeds, %d ids, %v: %d requests lost, %d answers lost, %d late, %d twice, %d worker IDs freed, %d crashes, %d pauses, %d clock steps, %d releases, %d takeovers, %d ids rolled back, %d times forgotten, %d records deleted, %d floors raised, %d records locked, %d times one was left and got an id",
		seeds, ids.Load(), time.Since(began).Round(time.Millisecond), faults[lostRequest], faults[lostReply], faults[lateRequest], faults[twiceRequest],
		faults[stolen], faults[crashed], faults[paused], faults[clockStepped], faults[released], faults[takenOver], faults[rolledBack], faults[forgot], faults[deleted], faults[raised], faults[locked], faults[healed])
	if t.Failed() {
		return
	}
	for i, n := range faults {
		if uint64(n) < seeds/10 {
			t.Errorf("fault %d came %d times in %d seeds: the simulation shows little", i, n, seeds)
		}
	}
	checkChanges(t, changes)
	if ids.Load() < 50*seeds {
		t.Errorf("%d ids in %d seeds: the simulation shows little", ids.Load(), seeds)
	}
}

// The simulation finds each fault that breaks the protocol.
func TestSimulationFindsFaults(t *testing.T) {
	for _, b := range []breakage{noFence, ownClock, unguarded, eager, earlyRelease, noFloor, expiredRenewal} {
		t.Run(b.String(), func(t *testing.T) {
			const seeds = 3000
			for seed := uint64(1); seed <= seeds; seed++ {
				if s := simulate(t, seed, b, false); s.twice != "" {
					t.Logf("seed %d: %s", seed, s.twice)
					return
				}
			}
			t.Errorf("%d seeds found no duplicate", seeds)
		})
	}
}

// The same seed gives the same run.
func TestSimulationIsReplayable(t *testing.T) {
	for seed := uint64(1); seed <= 200; seed++ {
		if a, b := simulate(t, seed, sound, true), simulate(t, seed, sound, true); a.trace != b.trace {
			for i := range a.log {
				if i >= len(b.log) || a.log[i] != b.log[i] {
					t.Fatalf("seed %d, line %d: %q and %q", seed, i, a.log[i], b.log[min(i, len(b.log)-1)])
				}
			}
			t.Fatalf("seed %d has two outcomes", seed)
		}
	}
}
