//go:build unix

package torture

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// A torture is a run of many processes on one store.
type torture struct {
	t       *testing.T
	service *service
	seed    uint64
	what    task // of each process: its Role, and Naive
	dir     string
	rand    *random

	forgetful bool // the store forgets, too
	sabotage  bool // and believes that it has not

	slotsMu sync.Mutex
	slots   []*slot
	books   []*book
	started int
	kills   int
	stops   int
	tally   tally
	claims  []claim

	mu        sync.Mutex
	outages   map[string]int // of the store, by what they were
	freed     int            // worker IDs
	forgets   int            // times
	unwritten int            // what was forgotten: claims and renewals
}

// A tally counts records by kind; of issued, the ids.
type tally [kinds]uint64

// A claim is one that the store has granted to a process.
type claim struct{ worker, token, source int64 }

// A slot holds one process after another.
type slot struct {
	*process
	resume time.Time // when it is resumed; zero: it runs
	begin  time.Time // when the next begins; zero: there is one
}

// A book is the records of one process that were counted.
type book struct {
	path string
	next int64
}

func newTorture(t *testing.T, name string, seed uint64, what task) *torture {
	t.Helper()
	dir := t.TempDir()
	r := &torture{
		t: t, service: startService(t, name, dir), seed: seed, what: what, dir: dir,
		rand: newRandom(seed, 4), outages: map[string]int{},
	}
	t.Cleanup(func() { // whatever happens
		for _, s := range r.slots {
			s.kill()
		}
	})
	for range setting(t, "SNOWKEY_TORTURE_PROCESSES", 16) { // for eight worker IDs: half of them wait
		s := new(slot)
		r.start(s)
		r.slots = append(r.slots, s)
	}
	return r
}

// start puts another process into a slot.
func (r *torture) start(s *slot) {
	r.t.Helper()
	n := r.started
	r.started++
	b := &book{path: filepath.Join(r.dir, fmt.Sprintf("book-%06d", n))}
	k := r.what
	k.Store, k.DSN, k.Errors = r.service.name, r.service.dsn, filepath.Join(r.dir, "errors")
	k.Book, k.Seed = b.path, r.seed+uint64(n)<<32
	p, err := startProcess(k)
	if err != nil {
		r.t.Fatal(err)
	}
	r.books = append(r.books, b)
	s.process, s.begin, s.resume = p, time.Time{}, time.Time{}
}

// until disturbs the processes and the store until enough has happened, or the tests' time is
// over.
func (r *torture) until(enough func(elapsed time.Duration) bool) {
	r.t.Helper()
	began := time.Now()
	limit := 30 * time.Minute
	if end, ok := r.t.Deadline(); ok {
		limit = min(limit, time.Until(end)-2*patience) // which is for an orderly end
	}
	halt, failed := make(chan struct{}), make(chan error, 2)
	var others sync.WaitGroup
	others.Go(func() { r.tormentStore(halt, failed) })
	others.Go(func() { r.operate(halt, failed) })
	defer func() {
		r.resume() // one that was stopped may hold what the others wait for
		close(halt)
		others.Wait()
	}()
	counted := time.Now()
	for {
		r.tormentProcesses()
		select {
		case err := <-failed:
			r.t.Fatal(err)
		case <-time.After(r.rand.duration(10*time.Millisecond, 100*time.Millisecond)):
		}
		if time.Since(counted) < 500*time.Millisecond {
			continue
		}
		counted = time.Now()
		r.count()
		elapsed := time.Since(began)
		if enough(elapsed) {
			return
		}
		if elapsed > limit {
			r.t.Errorf("after %v still too little has happened: %d killed, %d stopped, %d takeovers, by kind of record %v", elapsed, r.kills, r.stops, r.takeovers(), r.tally)
			return
		}
	}
}

// tormentStore makes the store fail again and again.
func (r *torture) tormentStore(halt <-chan struct{}, failed chan<- error) {
	random := newRandom(r.seed, 5)
	for first := true; ; first = false {
		if r.forgetful && (first || r.sabotage || random.oneIn(2)) {
			if err := r.forget(random, halt); errors.Is(err, errHalt) {
				return
			} else if err != nil {
				failed <- fmt.Errorf("%s: %w", r.service.name, err)
				return
			}
		}
		if r.sabotage {
			continue
		}
		select {
		case <-time.After(random.duration(500*time.Millisecond, 4*time.Second)):
		case <-halt:
			return
		}
		how, err := r.service.fail(random)
		if err != nil {
			failed <- fmt.Errorf("%s: %w", r.service.name, err)
			return
		}
		if how != "" {
			r.mu.Lock()
			r.outages[how]++
			r.mu.Unlock()
		}
	}
}

// operate is an operator who frees worker IDs, also those of live holders.
func (r *torture) operate(halt <-chan struct{}, failed chan<- error) {
	random := newRandom(r.seed, 6)
	for {
		select {
		case <-time.After(random.duration(200*time.Millisecond, 1200*time.Millisecond)):
		case <-halt:
			return
		}
		if err := r.free(random); err != nil {
			failed <- err
			return
		}
	}
}

// free frees one worker ID, unless the store fails.
func (r *torture) free(random *random) error {
	store, end, err := openOnce(r.service.name, r.service.dsn)
	if err != nil {
		return err
	}
	defer end()
	admin := store.(driver.Admin) // all have it
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	st, err := admin.List(ctx, space)
	if err != nil || len(st.Records) == 0 {
		return nil // it fails as often as the store is away
	}
	rec := st.Records[random.below(int64(len(st.Records)))]
	if admin.Free(ctx, space, rec.Worker, rec.FencingToken) == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.freed++
	}
	return nil
}

// tormentProcesses stops or kills a process, and resumes or starts those that are due.
func (r *torture) tormentProcesses() {
	r.t.Helper()
	r.slotsMu.Lock()
	defer r.slotsMu.Unlock()
	now := time.Now()
	for _, s := range r.slots {
		switch {
		case !s.begin.IsZero():
			if now.After(s.begin) {
				r.start(s)
			}
		case s.ended():
			r.t.Fatalf("a process ended by itself: %v; it said:\n%s", s.cmd.ProcessState, s.said())
		case !s.resume.IsZero() && now.After(s.resume):
			s.signal(syscall.SIGCONT)
			s.resume = time.Time{}
		}
	}
	s := r.slots[r.rand.below(int64(len(r.slots)))]
	if !s.begin.IsZero() {
		return
	}
	switch chance := r.rand.below(12); {
	case chance < 2 && (s.resume.IsZero() || r.rand.oneIn(4)): // those that are stopped are to wake up, mostly
		s.kill()
		r.kills++
		if s.begin = now; r.rand.oneIn(4) {
			s.begin = now.Add(r.rand.duration(0, 2*time.Second))
		}
	case chance < 5 && s.resume.IsZero():
		s.signal(syscall.SIGSTOP)
		r.stops++
		least, longest := free, free+window
		if r.rand.oneIn(4) {
			least, longest = time.Millisecond, renew
		}
		s.resume = now.Add(r.rand.duration(least, longest))
	}
}

// resume resumes all stopped processes.
func (r *torture) resume() {
	r.slotsMu.Lock()
	defer r.slotsMu.Unlock()
	for _, s := range r.slots {
		s.signal(syscall.SIGCONT)
		s.resume = time.Time{}
	}
}

// end ends all processes in an orderly way.
func (r *torture) end() {
	r.t.Helper()
	r.resume()
	for _, s := range r.slots {
		_ = s.stdin.Close()
	}
	for _, s := range r.slots {
		if !s.begin.IsZero() {
			continue
		}
		select {
		case <-s.done:
			if !s.cmd.ProcessState.Success() {
				r.t.Errorf("a process ended with %v; it said:\n%s", s.cmd.ProcessState, s.said())
			}
		case <-time.After(patience):
			r.t.Errorf("a process does not end")
			s.kill()
		}
	}
	r.count()
}

// count reads the records since the last time.
func (r *torture) count() {
	r.t.Helper()
	for source, b := range r.books {
		next, err := readLogbook(b.path, b.next, func(rec record) {
			switch {
			case rec.kind == 0 || rec.kind >= kinds:
				r.t.Errorf("%s holds %+v", b.path, rec)
				return
			case rec.kind == issued:
				r.tally[issued] += uint64(rec.n)
				return
			case rec.kind == claimed:
				r.claims = append(r.claims, claim{int64(rec.n), rec.a, int64(source)})
			}
			r.tally[rec.kind]++
		})
		if b.next = next; err != nil && !isNotYet(err) {
			r.t.Fatal(err)
		}
	}
}

// takeovers returns how often a worker ID moved to another process.
func (r *torture) takeovers() (n int) {
	r.t.Helper()
	slices.SortFunc(r.claims, func(a, b claim) int {
		return cmp.Or(cmp.Compare(a.worker, b.worker), cmp.Compare(a.token, b.token), cmp.Compare(a.source, b.source))
	})
	for i := 1; i < len(r.claims); i++ {
		a, b := r.claims[i-1], r.claims[i]
		if a.worker != b.worker || a.source == b.source {
			continue
		}
		n++
		if a.token == b.token {
			r.t.Errorf("fencing token %d of worker ID %d was given to the processes %d and %d", a.token, a.worker, a.source, b.source)
		}
	}
	return n
}

// check compares all ids with all others: those of one worker ID at a time, so that fewer are held.
func (r *torture) check() (found finding) {
	r.t.Helper()
	for number := range layout().WorkerIDs() {
		var held []interval
		for source, b := range r.books {
			_, err := readLogbook(b.path, 0, func(rec record) {
				if rec.kind == issued && rec.a>>layout().SequenceBits%layout().WorkerIDs() == number {
					held = append(held, interval{rec.a, rec.a + int64(rec.n) - 1, int64(source)})
				}
			})
			if err != nil && !isNotYet(err) {
				r.t.Fatal(err)
			}
		}
		found.add(held)
	}
	return found
}

// describe formats a duplicate.
func (r *torture) describe(d duplicate) string {
	p, err := layout().Decode(d.first)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("ids %d to %d, of worker ID %d at %s from sequence %d on, are of the processes %d and %d",
		d.first, d.last, p.Worker, p.Time.Format("15:04:05.000"), p.Sequence, d.sources[0], d.sources[1])
}

// happened lists the failures of the store in words. enough reports whether each kind was among
// them.
func (r *torture) happened() (text string, enough bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var parts []string
	outages := 0
	for how, times := range r.outages {
		parts = append(parts, fmt.Sprintf("%s %d", how, times))
		outages += times
	}
	slices.Sort(parts)
	parts = append(parts, fmt.Sprintf("worker IDs freed %d", r.freed))
	return strings.Join(parts, ", "), outages >= 2 && r.freed >= 2 && (!r.forgetful || r.forgets > 0 && r.unwritten > 0)
}
