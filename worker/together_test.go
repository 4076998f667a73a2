package worker_test

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/memstore"
)

// ids is the ledger of a test: every id, and who drew it.
type ids struct {
	mu   sync.Mutex
	seen map[int64]string
}

func (l *ids) add(t *testing.T, who string, drawn ...int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range drawn {
		if before, ok := l.seen[id]; ok {
			t.Errorf("id %d was drawn by %s and by %s", id, before, who)
		}
		l.seen[id] = who
	}
}

// Generators of leases are closed and made anew all the time, by several goroutines at
// once, while others draw, worker IDs are taken away and leases are released. One New
// wins each time, and no id is issued twice. Time moves only when a
// tick is full, so what two intervals had in common would come twice at once.
func TestOpenAndCloseTogether(t *testing.T) {
	layout := core.Layout{Epoch: testLayout.Epoch, TimeBits: 41, WorkerBits: 2, SequenceBits: 2}
	store := memstore.New(memstore.Config{})
	book := &ids{seen: make(map[int64]string)}
	lasts := 3 * time.Second
	if testing.Short() {
		lasts = 300 * time.Millisecond
	}
	stop := make(chan struct{})
	time.AfterFunc(lasts, func() { close(stop) })
	stopped := func() bool {
		select {
		case <-stop:
			return true
		default:
			return false
		}
	}
	var counts sync.Map // by lease
	var all sync.WaitGroup
	for _, name := range []string{"a", "b", "c"} {
		all.Go(func() {
			made := 0
			defer func() { counts.Store(name, made) }()
			for rounds := 0; !stopped() || made < 30 && rounds < 1000; rounds++ { // as many as it takes, on a slow machine
				lease, err := worker.Acquire(t.Context(), store, worker.Config{
					Layout: layout, FenceWindow: 200 * time.Millisecond, RenewInterval: 10 * time.Millisecond, TTL: time.Second, MaxLead: 300 * time.Hour, Owner: name,
					Timeout: time.Minute, ClaimWait: time.Minute, // this process may stand still
				})
				if err != nil {
					t.Error(err)
					return
				}
				for range 30 {
					made += cycle(t, lease, name, book)
				}
				if err := lease.Close(); err != nil {
					t.Error(err)
				}
				if t.Failed() {
					return
				}
			}
		})
	}
	all.Go(func() {
		for !stopped() {
			time.Sleep(time.Duration(rand.IntN(20)) * time.Millisecond)
			records, err := store.List(t.Context(), "default")
			if err != nil || len(records) == 0 {
				continue
			}
			record := records[rand.IntN(len(records))]
			_ = store.Free(t.Context(), "default", record.Worker, record.FencingToken)
		}
	})
	all.Wait()
	counts.Range(func(name, made any) bool {
		if made.(int) < 30 {
			t.Errorf("%v made only %v generators", name, made)
		}
		t.Logf("%v: %v generators", name, made)
		return true
	})
	if len(book.seen) < 1000 {
		t.Errorf("only %d ids", len(book.seen))
	}
	t.Logf("%d ids", len(book.seen))
}

// cycle lets several make a generator at once; the one who wins draws from it with
// others until it is closed.
func cycle(t *testing.T, lease *worker.Lease, name string, book *ids) (won int) {
	gens := make(chan *core.Generator, 4)
	var makers, writers sync.WaitGroup
	for i := range 4 {
		makers.Go(func() {
			cfg := core.Config{Worker: lease, ClockPolicy: core.Logical{Detached: true}, MaxWait: time.Millisecond}
			if i == 0 {
				cfg.NotBefore = lease.Layout().End() // it fails when it has the grant
			}
			gen, err := core.New(cfg)
			switch {
			case err == nil:
				gens <- gen
			case errors.Is(err, core.ErrInUse), errors.Is(err, worker.ErrNoWorkerID), i == 0 && errors.As(err, new(*core.ConfigError)):
			default:
				t.Error(err)
			}
		})
	}
	makers.Wait()
	close(gens)
	if won = len(gens); won > 1 {
		t.Errorf("%d generators of one lease", won)
	}
	for gen := range gens {
		draws := 1 + rand.IntN(100)
		for range 3 {
			writers.Go(func() {
				block := make([]int64, 5)
				for range draws {
					if id, err := gen.Next(t.Context()); err == nil {
						book.add(t, name, id)
					} else if errors.Is(err, core.ErrClosed) {
						return
					}
					if gen.Fill(t.Context(), block) == nil {
						book.add(t, name, block...)
					}
				}
			})
		}
		for range rand.IntN(draws) {
			runtime.Gosched()
		}
		gen.Close()
	}
	// While some still draw, the next is made: from the instant of Close on it may be.
	writers.Go(func() {
		gen, err := core.New(core.Config{Worker: lease, ClockPolicy: core.Logical{Detached: true}, MaxWait: time.Millisecond})
		if err != nil {
			if !errors.Is(err, worker.ErrNoWorkerID) {
				t.Errorf("after Close: %v", err)
			}
			return
		}
		if id, err := gen.Next(t.Context()); err == nil {
			book.add(t, name, id)
		}
		gen.Close()
	})
	writers.Wait()
	return won
}
