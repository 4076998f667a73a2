package core_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

func TestFillCutOffMidway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(core.Twitter().Epoch) + time.Hour)
		g := mustNew(t, core.Config{Worker: core.Fixed(1)})
		ctx, cancel := context.WithTimeout(t.Context(), 5500*time.Microsecond)
		defer cancel()
		ids := make([]int64, 100_000)
		if err := g.Fill(ctx, ids); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		if i := slices.IndexFunc(ids, func(id int64) bool { return id != 0 }); i >= 0 {
			t.Fatalf("ids[%d] was set", i)
		}
		burnt := int64(g.Stats().Issued)
		if burnt == 0 {
			t.Fatal("nothing was taken: the test shows nothing")
		}
		if err := g.Fill(t.Context(), ids); err != nil {
			t.Fatal(err)
		}
		if !slices.IsSorted(ids) || burnt+int64(len(ids)) != int64(g.Stats().Issued) {
			t.Error("what was burnt has been issued")
		}
		noDuplicates(t, ids)
	})
}

func TestFillSpansTicksInOrder(t *testing.T) {
	for name, l := range map[string]core.Layout{
		"zero": {}, "sequence first": {TimeBits: 41, SequenceBits: 3, WorkerBits: 2, SequenceFirst: true}, "no sequence": {TimeBits: 50},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(time.Until(core.Twitter().Epoch) + time.Hour)
				g := mustNew(t, core.Config{Layout: l, Worker: core.Fixed(0)})
				ids := make([]int64, 2*l.IDsPerTick()+50)
				if err := g.Fill(t.Context(), ids); err != nil {
					t.Fatal(err)
				}
				if !slices.IsSorted(ids) {
					t.Error("ids do not ascend")
				}
				noDuplicates(t, ids)
				if p, _ := l.Decode(ids[len(ids)-1]); p.Time.After(time.Now()) {
					t.Errorf("the last id is ahead of the clock: %v", p.Time)
				}
			})
		})
	}
}

func TestFillLongerThanMaxWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(core.Twitter().Epoch) + time.Hour)
		g := mustNew(t, core.Config{Layout: core.Layout{TimeBits: 41, SequenceBits: 2}, Worker: core.Fixed(0), MaxWait: 5 * time.Millisecond})
		ids := make([]int64, 4*1000)
		began := time.Now()
		if err := g.Fill(t.Context(), ids); err != nil {
			t.Fatalf("after %v: %v", time.Since(began), err)
		}
		if d := time.Since(began); d < 900*time.Millisecond {
			t.Errorf("1000 ticks took %v: ids ran ahead of the clock", d)
		}
	})
}

func TestFillInManyChunks(t *testing.T) {
	l := core.Layout{TimeBits: 41, WorkerBits: 2, SequenceBits: 4}
	began, reads := time.Now(), 0
	now := func() time.Time { reads++; return began.Add(time.Duration(reads) * 2 * time.Millisecond) }
	g := mustNew(t, core.Config{Layout: l, Worker: core.Fixed(1), Now: now})
	var all []int64
	for range 10 {
		ids := make([]int64, 400)
		if err := g.Fill(t.Context(), ids); err != nil {
			t.Fatal(err)
		}
		all = append(all, ids...)
	}
	noDuplicates(t, all)
	if p, _ := l.Decode(all[399]); p.Time.Sub(began) < 40*time.Millisecond {
		t.Errorf("400 ids end at %v: not in many parts", p.Time.Sub(began))
	}
}
