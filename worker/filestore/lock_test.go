package filestore

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// Who has opened a lock file that is removed then does not hold the lock.
func TestLockOfRemovedFile(t *testing.T) {
	d := directory{path: t.TempDir()}
	var holders, both atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for taken := 0; taken < 100; {
				f, err := d.tryLock("lock")
				if errors.Is(err, errLocked) {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				if holders.Add(1) > 1 {
					both.Add(1)
				}
				taken++
				time.Sleep(time.Microsecond)
				holders.Add(-1)
				if err := errors.Join(os.Remove(d.join("lock")), f.Close()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n := both.Load(); n > 0 {
		t.Errorf("two held it, %d times", n)
	}
}

// A cleaner removes the lock files while a renewal is between reading and writing,
// and another process claims the number: the renewal must not be acknowledged.
func TestLocksAreRemoved(t *testing.T) {
	dir := t.TempDir()
	first, second := mustNew(New(Config{Dir: dir})), mustNew(New(Config{Dir: dir}))
	defer first.Close()
	defer second.Close()
	now := time.Now().UnixMilli()
	r := driver.Request{Namespace: "x", Layout: "l", WorkerIDs: 1, Preferred: -1, Exclude: -1, ClaimID: "a", Owner: "o", Now: now, FenceWindow: 1000, TTL: 1000, MaxSkew: 1 << 40, MaxLead: 1 << 40}
	a, err := first.Claim(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	var b driver.Claim
	err = first.change(t.Context(), "x", 0, func(row *driver.Record) error {
		for _, name := range []string{"lock", "0.lock", "0.alive"} {
			if err := os.Remove(filepath.Join(dir, "x", name)); err != nil {
				t.Fatal(err)
			}
		}
		r.ClaimID = "b"
		if b, err = second.Claim(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		row.Fence = now + 5000
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "was removed or replaced") {
		t.Errorf("%v", err)
	}
	if b.FencingToken != a.FencingToken+1 || b.From < a.Fence {
		t.Errorf("%+v, then %+v", a, b)
	}
	rows, err := second.List(t.Context(), "x")
	if err != nil || len(rows) != 1 || rows[0].ClaimID != "b" || rows[0].Fence != b.Fence {
		t.Errorf("%+v, %v", rows, err)
	}
	// From then on the number is the other's.
	if err := first.Renew(t.Context(), driver.Renewal{Namespace: "x", FencingToken: a.FencingToken, ClaimID: "a", Fence: now + 9000, TTL: 1000}); !errors.Is(err, driver.ErrNotHeld) {
		t.Error(err)
	}
}

// A row that was renewed, or released, between being read and being locked is claimed
// as it is then: from the later bound on, and not with the epoch before.
func TestTakeReadsAgain(t *testing.T) {
	s := mustNew(New(Config{Dir: t.TempDir()}))
	defer s.Close()
	r := driver.Request{Namespace: "x", Layout: "l", WorkerIDs: 1, Preferred: -1, Exclude: -1, ClaimID: "a", Owner: "o", Now: 1000, FenceWindow: 1000, TTL: 1000, MaxSkew: 1 << 60, MaxLead: 1 << 60}
	c, err := s.Claim(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	d := directory{path: s.path("x")}
	stale, err := d.rows()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Renew(t.Context(), driver.Renewal{Namespace: "x", FencingToken: c.FencingToken, ClaimID: "a", Fence: 9000, TTL: 1}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil { // its process ends
		t.Fatal(err)
	}
	row, locks, err := take(d, r, slices.Clone(stale), time.Now().UnixMilli())
	if err != nil || row.Fence != 9000 {
		t.Errorf("%+v, %v", row, err)
	}
	_ = locks.close()
	r.MaxLead = 2000
	if row, _, err := take(d, r, stale, time.Now().UnixMilli()); !errors.Is(err, driver.ErrNoWorkerID) {
		t.Errorf("it begins too far ahead now: %+v, %v", row, err)
	}
}

// mustNew returns a store that New has made.
func mustNew[S any](s S, err error) S {
	if err != nil {
		panic(err)
	}
	return s
}
