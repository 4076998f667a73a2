package forget

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// A memory is a store whose clock can be wrong, and which can be put back to what it was.
type memory struct {
	mu     sync.Mutex
	fast   time.Duration // by how much its clock is
	life   int
	states map[string]driver.State
	kept   map[string]driver.State
}

func (m *memory) state(name string) driver.State {
	st, ok := m.states[name]
	if !ok {
		st = driver.State{Missing: true, New: true, Namespace: driver.Namespace{Name: name}}
	}
	st.Now, st.Server, st.Count = time.Now().Add(m.fast).UnixMilli(), fmt.Sprint("life ", m.life), int64(len(st.Records))
	st.Records = slices.Clone(st.Records)
	return st
}

func (m *memory) transact(ctx context.Context, name string, workerIDs int64, decide func(driver.State) (driver.Change, error)) (driver.Lease, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	read := func(context.Context, bool) (driver.State, error) { return m.state(name), nil }
	return driver.Transact(ctx, decide, read, func(_ context.Context, _ driver.State, ch driver.Change) (bool, error) {
		st := m.state(name)
		index := func(id int64) int {
			return slices.IndexFunc(st.Records, func(rec driver.Record) bool { return rec.Worker == id })
		}
		switch {
		case ch.Namespace != nil:
			st.Namespace, st.Missing, st.New = *ch.Namespace, false, false
		case ch.Record != nil:
			st.Records[index(ch.Record.Worker)] = *ch.Record
		default:
			for id := range workerIDs {
				if (*ch.Make == id || *ch.Make == driver.MakeAny) && index(id) < 0 {
					st.Records = append(st.Records, driver.Record{Worker: id, Status: driver.Unused})
				}
			}
		}
		m.states[name] = st
		return true, nil
	})
}

// Claim implements driver.Store.
func (m *memory) Claim(ctx context.Context, c driver.Claim) (driver.Lease, error) {
	return m.transact(ctx, c.Namespace, c.WorkerIDs, c.Decide)
}

// Renew implements driver.Store.
func (m *memory) Renew(ctx context.Context, r driver.Renewal) (driver.Lease, error) {
	return m.transact(ctx, r.Namespace, 0, r.Decide)
}

// Release implements driver.Store.
func (m *memory) Release(ctx context.Context, r driver.Release) error {
	_, err := m.transact(ctx, r.Namespace, 0, func(st driver.State) (driver.Change, error) {
		for _, rec := range st.Records {
			if rec.Worker == r.Worker {
				rec, err := r.Decide(rec)
				return driver.Change{Record: &rec}, err
			}
		}
		return driver.Change{}, driver.ErrNotHeld
	})
	return err
}

// List implements driver.Admin.
func (m *memory) List(_ context.Context, name string) (driver.State, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state(name).Listed(), nil
}

// Free implements driver.Admin; nothing needs it.
func (m *memory) Free(context.Context, string, int64, int64) error { return driver.ErrNotHeld }

// Raise implements driver.Admin; nothing needs it.
func (m *memory) Raise(context.Context, string, int64) (driver.Namespace, error) {
	return driver.Namespace{}, driver.ErrNotHeld
}

// do changes the store as a whole.
func (m *memory) do(change func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change()
}

func (m *memory) leap(fast time.Duration) { m.do(func() { m.fast = fast }) }

func (m *memory) putBack() {
	m.do(func() { m.life++; m.states = maps.Clone(m.kept) })
}

func memorySite() (*memory, *site) {
	m := &memory{states: map[string]driver.State{}}
	return m, &site{
		open:  func(*testing.T) driver.Store { return m },
		admin: func(*testing.T) admin { return m },
		keep:  func(*testing.T) { m.do(func() { m.kept = maps.Clone(m.states) }) },
		event: func(*testing.T) { m.putBack() },
		believe: func(_ *testing.T, ns driver.Namespace) {
			m.do(func() {
				st := m.state(ns.Name)
				st.Namespace = ns
				m.states[ns.Name] = st
			})
		},
	}
}

// No server here has a clock that can be set, so a store in memory takes its place.
func TestClock(t *testing.T) {
	for _, window := range []time.Duration{time.Second, 5 * time.Minute} {
		t.Run(fmt.Sprint("window ", window), func(t *testing.T) {
			t.Parallel()
			_, s := memorySite()
			s.window, s.through = window, window == time.Second
			prove(t, fmt.Sprintf("memory: put back, FenceWindow %v", window), *s)
		})
	}
	for _, leap := range []time.Duration{30 * time.Second, time.Hour} {
		t.Run(fmt.Sprintf("put back with a clock %v fast, which comes back", leap), func(t *testing.T) {
			t.Parallel()
			m, s := memorySite()
			s.leap = leap
			s.event = func(*testing.T) {
				m.do(func() { m.life++; m.fast, m.states = leap, maps.Clone(m.kept) })
				time.Sleep(time.Second)
				m.leap(0)
			}
			prove(t, fmt.Sprintf("memory: put back with a clock %v fast, which comes back", leap), *s)
		})
		t.Run(fmt.Sprintf("clock %v fast for a while", leap), func(t *testing.T) {
			t.Parallel()
			m, s := memorySite()
			s.keep = nil
			s.event = func(*testing.T) {
				m.leap(leap)
				time.Sleep(time.Second)
				m.leap(0)
			}
			unharmed(t, fmt.Sprintf("memory: clock %v fast for a while", leap), *s)
		})
	}
}
