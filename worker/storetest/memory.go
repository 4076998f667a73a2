package storetest

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// Memory is a store in memory whose records a test can replace: see Put. Reads and writes are
// separate steps, as in a store whose client can write only under a condition. The zero value is
// an empty store. All methods are safe for concurrent use.
type Memory struct {
	mu     sync.Mutex
	states map[string]driver.State // Now, Server and Count are not used
}

var (
	_ driver.Store = (*Memory)(nil)
	_ driver.Admin = (*Memory)(nil)
)

// Put replaces a namespace and its records: it is Config.Put.
func (m *Memory) Put(t *testing.T, s driver.State) {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.put(s.Namespace.Name, s)
}

func (m *Memory) put(name string, s driver.State) {
	if m.states == nil {
		m.states = make(map[string]driver.State)
	}
	m.states[name] = s
}

// state reads the store; m.mu is held.
func (m *Memory) state(name string) driver.State {
	s, ok := m.states[name]
	if !ok {
		s = driver.State{Missing: true, New: true}
	}
	if s.Missing {
		s.Namespace = driver.Namespace{Name: name}
	}
	s.Now, s.Server, s.Count = clock(), "memory", int64(len(s.Records))
	s.Records = append([]driver.Record(nil), s.Records...)
	return s
}

func (m *Memory) transact(ctx context.Context, name string, workerIDs int64, decide func(driver.State) (driver.Change, error)) (driver.Lease, error) {
	read := func(ctx context.Context) (driver.State, error) {
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.state(name), ctx.Err()
	}
	return driver.Transact(ctx, decide, read, func(_ context.Context, s driver.State, ch driver.Change) (bool, error) {
		m.mu.Lock()
		defer m.mu.Unlock()
		now := m.state(name)
		if !fits(ch, s, now) {
			return false, nil
		}
		m.put(name, applied(ch, now, workerIDs))
		return true, nil
	})
}

// fits reports whether a change that was decided on what was read can be written now: see
// driver.Change.
func fits(ch driver.Change, read, now driver.State) bool {
	ns := now.Namespace
	same := now.Missing == read.Missing && ns == read.Namespace
	index := read.Index == nil || now.Index != nil && now.Index.Missing == read.Index.Missing && now.Index.Namespace == read.Index.Namespace
	switch {
	case ch.Index != nil && ch.Namespace == nil:
		return index
	case ch.Index != nil:
		return same && index
	case ch.Namespace != nil, ch.Make != nil:
		return same
	}
	rec := find(read, ch.Record.Worker)
	if find(now, rec.Worker) != rec || ns.Floor != read.Namespace.Floor || ns.Seen != read.Namespace.Seen {
		return false
	}
	if ch.Record.ClaimID == rec.ClaimID && read.Namespace.Incarnation != read.Server { // a renewal when the floor may not rise
		return ns.Incarnation != now.Server && rec.Fence > ns.Floor
	}
	return ns.Incarnation == now.Server
}

// applied is the state after a change.
func applied(ch driver.Change, s driver.State, workerIDs int64) driver.State {
	switch {
	case ch.Namespace != nil:
		s.Namespace, s.Missing, s.New = *ch.Namespace, false, false
	case ch.Make != nil:
		first, end, most := *ch.Make, *ch.Make+1, 1
		if first == driver.Any {
			first, end, most = 0, workerIDs, driver.MakeAtOnce
		}
		for id := first; id < end && most > 0; id++ {
			if find(s, id).Status == "" {
				s.Records = append(s.Records, driver.Record{Worker: id, Status: driver.Unused})
				s.Namespace.Seen++
				most--
			}
		}
	default:
		s.Records[slices.IndexFunc(s.Records, func(rec driver.Record) bool { return rec.Worker == ch.Record.Worker })] = *ch.Record
	}
	return s
}

// find returns the record of a worker ID, or none.
func find(s driver.State, worker int64) driver.Record {
	for _, rec := range s.Records {
		if rec.Worker == worker {
			return rec
		}
	}
	return driver.Record{}
}

// Claim implements driver.Store.
func (m *Memory) Claim(ctx context.Context, c driver.Claim) (driver.Lease, error) {
	if err := c.Validate(); err != nil {
		return driver.Lease{}, err
	}
	return m.transact(ctx, c.Namespace, c.WorkerIDs, c.Decide)
}

// Renew implements driver.Store.
func (m *Memory) Renew(ctx context.Context, r driver.Renewal) (driver.Lease, error) {
	return m.transact(ctx, r.Namespace, 0, r.Decide)
}

// Release implements driver.Store.
func (m *Memory) Release(ctx context.Context, r driver.Release) error {
	return m.change(ctx, r.Namespace, r.Worker, r.Decide)
}

// Free implements driver.Admin.
func (m *Memory) Free(ctx context.Context, namespace string, worker, fencingToken int64) error {
	return m.change(ctx, namespace, worker, func(rec driver.Record) (driver.Record, error) { return rec.Free(fencingToken) })
}

// change changes one record.
func (m *Memory) change(ctx context.Context, name string, worker int64, decide func(driver.Record) (driver.Record, error)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.state(name)
	rec, err := decide(find(s, worker))
	if err == nil && ctx.Err() == nil {
		m.put(name, applied(driver.Change{Record: &rec}, s, 0))
	}
	return cmp.Or(ctx.Err(), err)
}

// List implements driver.Admin.
func (m *Memory) List(ctx context.Context, namespace string) (driver.State, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state(namespace).Listed(), ctx.Err()
}

// Raise implements driver.Admin.
func (m *Memory) Raise(ctx context.Context, namespace string, fenceWindow int64) (driver.Namespace, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.state(namespace)
	ch, err := s.Raise(fenceWindow)
	if err = cmp.Or(ctx.Err(), err); err != nil {
		return driver.Namespace{}, err
	}
	m.put(namespace, applied(ch, s, 0))
	return *ch.Namespace, nil
}
