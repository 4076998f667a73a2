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

// A process that has opened a lock file which is then removed does not hold the lock.
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
// and another process claims the worker ID: the renewal must not be acknowledged.
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
	err = first.change(t.Context(), key{"x", 0}, func(rec *driver.Record) bool {
		for _, name := range []string{"lock", "0.lock", "0.alive"} {
			if err := os.Remove(filepath.Join(dir, "x", name)); err != nil {
				t.Fatal(err)
			}
		}
		r.ClaimID = "b"
		if b, err = second.Claim(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		rec.Fence = now + 5000
		return true
	})
	if err == nil || !strings.Contains(err.Error(), "was removed or replaced") {
		t.Errorf("%v", err)
	}
	if b.FencingToken != a.FencingToken+1 || b.From < a.Fence {
		t.Errorf("%+v, then %+v", a, b)
	}
	records, err := second.List(t.Context(), "x")
	if err != nil || len(records) != 1 || records[0].ClaimID != "b" || records[0].Fence != b.Fence {
		t.Errorf("%+v, %v", records, err)
	}
	// From then on the other process holds the worker ID.
	if err := first.Renew(t.Context(), driver.Renewal{Namespace: "x", FencingToken: a.FencingToken, ClaimID: "a", Fence: now + 9000, TTL: 1000}); !errors.Is(err, driver.ErrNotHeld) {
		t.Error(err)
	}
}

// A record that was renewed or released between the read and the lock is claimed as it is
// then: from the later fence, and not with the earlier fencing token.
func TestLockFreeReadsAgain(t *testing.T) {
	s := mustNew(New(Config{Dir: t.TempDir()}))
	defer s.Close()
	r := driver.Request{Namespace: "x", Layout: "l", WorkerIDs: 1, Preferred: -1, Exclude: -1, ClaimID: "a", Owner: "o", Now: 1000, FenceWindow: 1000, TTL: 1000, MaxSkew: 1 << 60, MaxLead: 1 << 60}
	c, err := s.Claim(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	d := directory{path: s.path("x")}
	stale, err := d.records()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Renew(t.Context(), driver.Renewal{Namespace: "x", FencingToken: c.FencingToken, ClaimID: "a", Fence: 9000, TTL: 1}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil { // its process ends
		t.Fatal(err)
	}
	rec, locks, err := lockFree(d, r, slices.Clone(stale), time.Now().UnixMilli())
	if err != nil || rec.Fence != 9000 {
		t.Errorf("%+v, %v", rec, err)
	}
	_ = locks.close()
	r.MaxLead = 2000
	if rec, _, err := lockFree(d, r, stale, time.Now().UnixMilli()); !errors.Is(err, driver.ErrNoWorkerID) {
		t.Errorf("it begins too far ahead now: %+v, %v", rec, err)
	}
}

// mustNew returns a store that New has made.
func mustNew[S any](s S, err error) S {
	if err != nil {
		panic(err)
	}
	return s
}
