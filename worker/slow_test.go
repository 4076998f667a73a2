package worker_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/memstore"
)

// sluggish is a store whose requests and answers may take longer than Timeout, and which
// does not heed contexts. The simulation's store answers while the lease waits.
type sluggish struct {
	mu   sync.Mutex
	rng  *rand.Rand
	well bool
}

func (s *sluggish) take() (before, after time.Duration, lost bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delay := func() time.Duration {
		if s.well || s.rng.IntN(3) > 0 {
			return time.Duration(s.rng.Int64N(int64(20 * time.Millisecond)))
		}
		return time.Duration(s.rng.Int64N(int64(5 * time.Second)))
	}
	return delay(), delay(), !s.well && s.rng.IntN(10) == 0
}

func (s *sluggish) with(_ context.Context, request func(context.Context) error) error {
	before, after, lost := s.take()
	time.Sleep(before)
	err := request(context.Background())
	time.Sleep(after)
	if lost {
		return errNetwork
	}
	return err
}

// Three processes with clocks that step share two worker IDs of a store that answers late,
// or not at all: no id is issued twice, and the one that is left gets ids again.
func TestLateAnswers(t *testing.T) {
	seeds := number(t, "SNOWKEY_LATE_SEEDS", 20)
	ids, claims := 0, uint64(0)
	for seed := uint64(1); seed <= seeds && !t.Failed(); seed++ {
		synctest.Test(t, func(t *testing.T) {
			drains(t)
			n, c := lateAnswers(t, seed)
			ids, claims = ids+n, claims+c
		})
	}
	t.Logf("%d ids, %d claims", ids, claims)
	if uint64(ids) < 1000*seeds || claims < 3*seeds {
		t.Error("that shows little")
	}
}

type latecomer struct {
	ahead time.Duration
	lease *worker.Lease
	gen   *core.Generator
}

func lateAnswers(t *testing.T, seed uint64) (drawn int, claims uint64) {
	rng := rand.New(rand.NewPCG(seed, 0x6c617465))
	layout := testLayout
	layout.WorkerBits = 1
	mem := memstore.New(memstore.Config{})
	store := &sluggish{rng: rand.New(rand.NewPCG(seed, 0x73746f72))}
	var all [3]latecomer
	issued := map[int64]bool{}
	var clock sync.Mutex
	open := func(p *latecomer) {
		now := func() time.Time {
			clock.Lock()
			defer clock.Unlock()
			return time.Now().Add(p.ahead)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 8*time.Second)
		defer cancel()
		lease, err := worker.Acquire(ctx, via{mem, store.with}, worker.Config{Layout: layout, FenceWindow: 4 * time.Second, MaxSkew: 2 * time.Second, Now: now})
		if err != nil {
			return
		}
		p.lease = lease
		back := []core.ClockPolicy{core.Logical{}, core.Logical{MaxAhead: time.Minute}, core.Rotate{}}[rng.IntN(3)]
		if store.well {
			back = nil
		}
		p.gen, _ = core.New(core.Config{Worker: p.lease, Now: now, ClockPolicy: back})
	}
	end := func(p *latecomer) {
		if p.lease == nil {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(rng.Int64N(int64(3*time.Second))))
		defer cancel()
		_ = p.lease.Release(ctx)
		claims += p.lease.Stats().Claims
		if p.gen != nil {
			p.gen.Close()
		}
		p.lease, p.gen = nil, nil
	}
	draw := func(p *latecomer, n int) error {
		if p.gen == nil {
			open(p)
		}
		if p.gen == nil {
			return errors.New("no generator")
		}
		ids := make([]int64, n)
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := p.gen.Fill(ctx, ids); err != nil {
			return err
		}
		drawn += n
		for _, id := range ids {
			if issued[id] {
				parts, _ := layout.Decode(id)
				t.Fatalf("seed %d: %+v was issued twice", seed, parts)
			}
			issued[id] = true
		}
		return nil
	}
	for range 60 {
		p := &all[rng.IntN(len(all))]
		switch rng.IntN(12) {
		case 0, 1, 2:
			end(p)
		case 3:
			clock.Lock()
			p.ahead = time.Duration(rng.Int64N(int64(5*time.Second))) - 2500*time.Millisecond
			if rng.IntN(4) == 0 {
				p.ahead += 5 * time.Minute
			}
			clock.Unlock()
		case 4:
			if st, _ := mem.List(t.Context(), "default"); len(st.Records) > 0 {
				record := st.Records[rng.IntN(len(st.Records))]
				_ = mem.Free(t.Context(), "default", record.Worker, record.FencingToken)
			}
		case 5, 6:
			time.Sleep(time.Duration(rng.Int64N(int64(4 * time.Second))))
		default:
			_ = draw(p, 1+rng.IntN(2000))
			time.Sleep(time.Duration(rng.Int64N(int64(500 * time.Millisecond))))
		}
	}
	store.mu.Lock()
	store.well = true
	store.mu.Unlock()
	end(&all[1])
	end(&all[2])
	end(&all[0]) // its ClockPolicy may be one that waits for the clock
	clock.Lock()
	all[0].ahead = 0
	clock.Unlock()
	began := time.Now()
	for err := draw(&all[0], 1); err != nil; err = draw(&all[0], 1) {
		if time.Since(began) > 25*time.Second {
			t.Errorf("seed %d: no id in %v: %v", seed, time.Since(began), err)
			if l := all[0].lease; l != nil {
				t.Errorf("%+v", l.Stats())
			}
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	end(&all[0])
	return drawn, claims
}
