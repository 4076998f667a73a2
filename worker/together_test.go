package worker_test

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
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

// Generators are opened and closed all the time, by several goroutines at once, while others draw from
// them and worker IDs are taken away: no id is issued twice. Time moves only when a tick is full, so
// what two intervals had in common would come twice at once.
func TestOpenAndCloseTogether(t *testing.T) {
	store, book := memstore.New(memstore.Config{}), &ids{seen: make(map[int64]string)}
	stop := time.Now().Add(3 * time.Second)
	if testing.Short() {
		stop = time.Now().Add(300 * time.Millisecond)
	}
	var opened atomic.Int64
	var all sync.WaitGroup
	for _, name := range []string{"a", "b", "c"} {
		all.Go(func() {
			for rounds := 0; (time.Now().Before(stop) || rounds < 30) && !t.Failed(); rounds++ {
				gen, err := worker.Open(t.Context(), store, worker.Config{
					Layout:      core.Layout{Epoch: testLayout.Epoch, TimeBits: 41, WorkerBits: 2, SequenceBits: 2},
					FenceWindow: 400 * time.Millisecond, RenewInterval: 10 * time.Millisecond, MaxSkew: 200 * time.Millisecond, Owner: name,
					ClockPolicy: core.Logical{Detached: true}, MaxWait: time.Millisecond,
					Timeout: time.Minute, ClaimWait: time.Minute, // this process may be paused
				})
				if err != nil {
					t.Error(err)
					return
				}
				opened.Add(1)
				var writers sync.WaitGroup
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
				if err := gen.Close(t.Context()); err != nil { // while some still draw
					t.Error(err)
				}
				writers.Wait()
			}
		})
	}
	all.Go(func() {
		for time.Now().Before(stop) {
			time.Sleep(time.Duration(rand.IntN(200)) * time.Millisecond)
			st, err := store.List(t.Context(), "default")
			if err != nil || len(st.Records) == 0 {
				continue
			}
			record := st.Records[rand.IntN(len(st.Records))]
			_ = store.Free(t.Context(), "default", record.Worker, record.FencingToken)
		}
	})
	all.Wait()
	if t.Logf("%d generators, %d ids", opened.Load(), len(book.seen)); opened.Load() < 90 || len(book.seen) < 1000 {
		t.Error("that shows little")
	}
}
