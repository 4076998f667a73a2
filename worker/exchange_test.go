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

// A worker ID that was replaced is released at the moment at which the generator has
// left it, behind its last id, and not before.
func TestReleasedWhenTheGeneratorHasLeft(t *testing.T) {
	inWorld(t, func(w *world) {
		lease := w.acquire(nil)
		gen := w.generator(lease, core.Rotate{})
		last := w.mustDraw(gen)
		w.ahead.Add(-int64(time.Second))
		if p := w.mustDraw(gen); p.Worker == last.Worker {
			t.Fatalf("%+v: the test shows nothing", p)
		}
		left := time.Now()
		synctest.Wait()
		if record := w.record(last.Worker); record.ClaimID != "" || record.Fence != last.Time.UnixMilli()+1 || !time.Now().Equal(left) {
			t.Errorf("the last id is of %v, and %v later it is %+v", last.Time, time.Since(left), record)
		}
		if _, err := core.New(core.Config{Worker: lease, Now: w.now}); !errors.Is(err, core.ErrInUse) {
			t.Errorf("beside the one that was moved: %v", err)
		}
		w.mustDraw(gen)
	})
	inWorld(t, func(w *world) {
		lease := w.acquire(nil)
		slow := &late{GrantSource: lease, by: 25 * time.Second}
		gen, err := core.New(core.Config{Worker: slow, Now: w.now, ClockPolicy: core.Rotate{}, MaxWait: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		defer gen.Close()
		last := w.mustDraw(gen)
		w.ahead.Add(-int64(time.Second))
		answered := make(chan core.Parts)
		go func() { answered <- w.mustDraw(gen) }()
		time.Sleep(20 * time.Second) // the lease has answered, and the generator does not know it
		if record := w.record(last.Worker); record.ClaimID == "" {
			t.Errorf("released under its generator: %+v", record)
		}
		if p := <-answered; p.Worker == last.Worker {
			t.Errorf("%+v", p)
		}
		synctest.Wait()
		if record := w.record(last.Worker); record.ClaimID != "" || record.Fence != last.Time.UnixMilli()+1 {
			t.Errorf("the last id is of %v, and then it is %+v", last.Time, record)
		}
	})
}

// late passes the answer to a running generator on after a while.
type late struct {
	core.GrantSource
	by time.Duration
}

func (l *late) Grant(ctx context.Context, prev *core.Grant) (*core.Grant, error) {
	gr, err := l.GrantSource.Grant(ctx, prev)
	if prev != nil {
		time.Sleep(l.by)
	}
	return gr, err
}

// losing does not pass on the answers to a running generator, for a time.
type losing struct {
	core.GrantSource
	closes bool
	off    bool
	lost   int
}

var errOnTheWay = errors.New("lost on the way")

func (l *losing) Grant(ctx context.Context, prev *core.Grant) (*core.Grant, error) {
	gr, err := l.GrantSource.Grant(ctx, prev)
	if prev == nil || l.off || err != nil {
		return gr, err
	}
	l.lost++
	if l.closes {
		gr.Close()
	}
	return nil, errOnTheWay
}

// A generator that does not get the worker ID for which its own was to be exchanged
// keeps that, and it is renewed; the other is given back.
func TestTheOtherNumberIsRefused(t *testing.T) {
	for _, closes := range []bool{true, false} {
		inWorld(t, func(w *world) {
			lease := w.acquire(nil)
			wrap := &losing{GrantSource: lease, closes: closes}
			gen, err := core.New(core.Config{Worker: wrap, Now: w.now, ClockPolicy: core.Rotate{}})
			if err != nil {
				t.Fatal(err)
			}
			defer gen.Close()
			first := w.mustDraw(gen)
			w.ahead.Add(-int64(time.Second))
			for wrap.lost < 3 {
				if p, err := w.draw(gen); !errors.Is(err, errOnTheWay) && !errors.As(err, new(*worker.RetryError)) {
					t.Fatalf("%+v, %v", p, err)
				}
				time.Sleep(20 * time.Millisecond) // the lease asks again after a delay
			}
			if _, err := core.New(core.Config{Worker: lease, Now: w.now}); !errors.Is(err, core.ErrInUse) {
				t.Errorf("beside it: %v", err)
			}
			w.ahead.Store(0)
			wrap.off = !closes // there the lease learns of it when it is asked again
			for range 300 {
				time.Sleep(time.Second)
				if p := w.mustDraw(gen); closes && p.Worker != first.Worker {
					t.Fatalf("%+v", p)
				}
			}
			held := 0
			records, _ := w.mem.List(w.Context(), "default")
			for _, record := range records {
				if record.ClaimID != "" {
					held++
				}
			}
			if held != 1 || wrap.lost != 3 || w.record(lease.Worker()).ClaimID == "" {
				t.Errorf("%d numbers are held, %d answers were lost: %+v", held, wrap.lost, records)
			}
			if st := lease.Stats(); st.Losses > 0 {
				t.Errorf("%+v", st)
			}
		})
	}
}

// A generator that is closed while it gets another worker ID gives up both.
func TestClosedWhileItIsGivenAnother(t *testing.T) {
	inWorld(t, func(w *world) {
		lease := w.acquire(nil)
		first, err := lease.Grant(w.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		gen, err := core.New(core.Config{Worker: just{first}, Now: w.now})
		if err != nil {
			t.Fatal(err)
		}
		w.mustDraw(gen)
		second, err := lease.Grant(w.Context(), first)
		if err != nil || second == first {
			t.Fatal(err)
		}
		if _, err := core.New(core.Config{Worker: lease, Now: w.now}); !errors.Is(err, core.ErrInUse) {
			t.Errorf("while it lives: %v", err)
		}
		gen.Close()
		again := w.generator(lease, nil)
		w.mustDraw(again)
		select {
		case <-second.Done():
		default:
			t.Error("two grants of one worker ID")
		}
		synctest.Wait()
		records, _ := w.mem.List(w.Context(), "default")
		if len(records) != 2 || records[0].ClaimID != "" || records[1].ClaimID == "" {
			t.Errorf("%+v", records)
		}
	})
}

// just returns one grant.
type just struct{ grant *core.Grant }

func (j just) Grant(context.Context, *core.Grant) (*core.Grant, error) { return j.grant, nil }

// A grant of another source counts as none: the call is for a new generator.
func TestAnotherWorkersGrant(t *testing.T) {
	inWorld(t, func(w *world) {
		foreign, err := core.NewGrant(testLayout, 3, time.Time{}, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		lease := w.acquire(nil)
		first, err := lease.Grant(w.Context(), foreign)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := lease.Grant(w.Context(), foreign); !errors.Is(err, core.ErrInUse) {
			t.Errorf("%v", err)
		}
		first.Close()
		if _, err := lease.Grant(w.Context(), foreign); err != nil || lease.Stats().Claims != 1 {
			t.Errorf("%v, %+v", err, lease.Stats())
		}
	})
}
