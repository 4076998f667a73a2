package worker_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
)

// pausing is a lease whose generator pauses while it asks for another grant: before
// the lease sees the request, and again before the generator sees the answer.
type pausing struct {
	core.GrantSource
	first    *core.Grant // what core.New was given
	asks     chan struct{}
	ask      chan struct{}
	answered chan struct{}
	answer   chan struct{}
	given    *core.Grant
	err      error
}

func pause(w core.GrantSource) *pausing {
	return &pausing{GrantSource: w, asks: make(chan struct{}), ask: make(chan struct{}), answered: make(chan struct{}), answer: make(chan struct{})}
}

func (p *pausing) Grant(ctx context.Context, prev *core.Grant) (*core.Grant, error) {
	if prev == nil {
		var err error
		p.first, err = p.GrantSource.Grant(ctx, nil)
		return p.first, err
	}
	close(p.asks)
	<-p.ask
	// Generator.Close cancels the request from a goroutine of its own, so it can return
	// before the cancellation arrives. Here the cancellation never does.
	p.given, p.err = p.GrantSource.Grant(context.WithoutCancel(ctx), prev)
	close(p.answered)
	<-p.answer
	return p.given, p.err
}

// exchanges are the reasons for which a generator asks for another grant. Each makes
// the next call of Next ask.
var exchanges = map[string]func(w *world, lease *worker.Lease, p *pausing){
	"revoked": func(_ *world, _ *worker.Lease, p *pausing) { p.first.Revoke(nil) },
	"rotate":  func(w *world, _ *worker.Lease, _ *pausing) { w.ahead.Add(-int64(time.Second)) },
	"stolen": func(w *world, lease *worker.Lease, p *pausing) {
		w.steal(lease.Worker())
		for range 60 {
			if time.Sleep(time.Second); lease.Stats().Claims == 2 {
				return
			}
		}
		w.Fatalf("no other worker ID was claimed: %+v", lease.Stats())
	},
}

// When Generator.Close has returned, the lease serves the next generator, wherever the
// calls of the closed one are: about to ask the lease for another grant, or with its
// answer in hand. They must neither occupy the lease nor disturb the next generator.
func TestCloseWhileAskingForAnotherGrant(t *testing.T) {
	type moments struct{ close, next string }
	for why, exchange := range exchanges {
		for name, at := range map[string]moments{
			"closed before the lease is asked, next after its answer":         {"before asking", "after the answer"},
			"closed and next before the lease is asked":                       {"before asking", "before asking"},
			"closed after the answer, and next":                               {"after the answer", "after the answer"},
			"closed before the lease is asked, next after the last call ends": {"before asking", "at the end"},
		} {
			t.Run(why+"/"+name, func(t *testing.T) {
				inWorld(t, func(w *world) {
					lease := w.acquire(nil)
					p := pause(lease)
					gen, err := core.New(core.Config{Worker: p, Now: w.now, ClockPolicy: core.Rotate{}, MaxWait: time.Hour})
					if err != nil {
						w.Fatal(err)
					}
					defer gen.Close()
					w.mustDraw(gen)
					exchange(w, lease, p)
					ended := make(chan error, 1)
					go func() { _, err := gen.Next(context.Background()); ended <- err }()
					var next *core.Generator
					reach := func(moment string) {
						if at.close == moment {
							gen.Close()
						}
						if at.next != moment {
							return
						}
						next, err = core.New(core.Config{Worker: lease, Now: w.now})
						if err != nil {
							w.Errorf("the generator is closed, and the next one gets: %v", err)
							return
						}
						w.Cleanup(next.Close)
						w.mustDraw(next)
					}
					<-p.asks
					reach("before asking")
					close(p.ask)
					<-p.answered
					reach("after the answer")
					close(p.answer)
					if err := <-ended; !errors.Is(err, core.ErrClosed) {
						w.Errorf("the call of the closed generator: %v", err)
					}
					reach("at the end")
					if p.given != nil && !done(p.given) {
						w.Error("the answer to the closed generator is a grant that nobody closed")
					}
					if next == nil {
						return
					}
					first := w.mustDraw(next)
					if _, err := core.New(core.Config{Worker: lease, Now: w.now}); !errors.Is(err, core.ErrInUse) {
						w.Errorf("a second generator beside the next one: %v", err)
					}
					for range 100 { // its worker ID is renewed, and no other is held
						time.Sleep(time.Second)
						if p := w.mustDraw(next); p.Worker != first.Worker {
							w.Fatalf("the next generator was moved from %+v to %+v", first, p)
						}
					}
					synctest.Wait()
					if held := w.held(); held != 1 {
						w.Errorf("the lease holds %d worker IDs", held)
					}
				})
			})
		}
	}
}

// The same while the store is asked for another worker ID.
func TestCloseWhileAnotherWorkerIDIsClaimed(t *testing.T) {
	for name, slow := range map[string]time.Duration{"the store answers late": 2 * time.Second, "the store does not answer": time.Hour} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				lease := w.acquire(nil)
				gen, err := core.New(core.Config{Worker: lease, Now: w.now, ClockPolicy: core.Rotate{}, MaxWait: time.Hour})
				if err != nil {
					t.Fatal(err)
				}
				w.mustDraw(gen)
				w.ahead.Add(-int64(time.Second))
				w.store.set(func(f *flaky) { f.slow = slow })
				ended := make(chan error, 1)
				go func() { _, err := gen.Next(context.Background()); ended <- err }()
				synctest.Wait()
				gen.Close()
				next := w.generator(lease, nil)
				w.mustDraw(next)
				if err := <-ended; !errors.Is(err, core.ErrClosed) {
					t.Errorf("the call of the closed generator: %v", err)
				}
				w.store.set(func(f *flaky) { f.slow = 0 })
				for range 100 {
					time.Sleep(time.Second)
					w.mustDraw(next)
				}
				if held := w.held(); held != 1 {
					t.Errorf("the lease holds %d worker IDs", held)
				}
			})
		})
	}
}

func done(gr *core.Grant) bool {
	select {
	case <-gr.Done():
		return true
	default:
		return false
	}
}

// held counts the worker IDs that somebody has, but for the thief's.
func (w *world) held() (n int) {
	w.Helper()
	records, err := w.mem.List(w.Context(), "default")
	if err != nil {
		w.Fatal(err)
	}
	for _, record := range records {
		if record.ClaimID != "" && record.ClaimID != "thief" {
			n++
		}
	}
	return n
}
