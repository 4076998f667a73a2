package worker_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/memstore"
)

func TestDatacenter(t *testing.T) {
	layout := core.Layout{TimeBits: 41, DatacenterBits: 2, WorkerBits: 1, SequenceBits: 12}
	seen := map[int64]bool{}
	for _, c := range []struct{ datacenter, first int64 }{
		{0, 0},
		{1, 2},
		{3, 6},
	} {
		t.Run(fmt.Sprint("datacenter ", c.datacenter), func(t *testing.T) {
			store := memstore.New(memstore.Config{}) // each has its own
			cfg := worker.Config{Layout: layout, Datacenter: &c.datacenter, ClaimWait: -1}
			for i := range int64(3) {
				lease, err := worker.Acquire(t.Context(), store, cfg)
				var none *worker.NoWorkerIDError
				if i == 2 {
					if !errors.As(err, &none) || none.WorkerIDs != 2 || none.Leased != 2 {
						t.Errorf("datacenter %d: %v", c.datacenter, err)
					}
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				defer lease.Close()
				if lease.Worker() != c.first+i {
					t.Errorf("datacenter %d: worker ID %d", c.datacenter, lease.Worker())
				}
				gen, err := core.New(core.Config{Worker: lease})
				if err != nil {
					t.Fatal(err)
				}
				defer gen.Close()
				ids := make([]int64, 5000)
				if err := gen.Fill(t.Context(), ids); err != nil {
					t.Fatal(err)
				}
				for _, id := range ids {
					if p, err := layout.Decode(id); err != nil || p.Datacenter != c.datacenter || p.Worker != i || seen[id] {
						t.Fatalf("%+v, %v, seen %v", p, err, seen[id])
					}
					seen[id] = true
				}
			}
		})
	}
}

func TestDatacenterIsTheSpaces(t *testing.T) {
	store := memstore.New(memstore.Config{})
	first, err := worker.Acquire(t.Context(), store, worker.Config{Datacenter: ref(int64(1)), ClaimWait: -1})
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range []*int64{nil, ref(int64(0)), ref(int64(2))} {
		var layout *worker.LayoutError
		if _, err := worker.Acquire(t.Context(), store, worker.Config{Datacenter: other, ClaimWait: -1}); !errors.As(err, &layout) {
			t.Errorf("datacenter %v in the namespace of datacenter 1: %v", other, err)
		}
	}
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	records, err := store.List(t.Context(), "default")
	if err != nil || len(records) != 1 || records[0].Worker != 0 || records[0].ClaimID != "" {
		t.Errorf("%+v, %v", records, err)
	}
}

// Config.Preferred is a worker ID of the layout, also with Config.Datacenter.
func TestDatacenterPreferred(t *testing.T) {
	store := memstore.New(memstore.Config{})
	for name, c := range map[string]struct {
		cfg  worker.Config
		want string
	}{
		"too high":            {worker.Config{Datacenter: ref(int64(32))}, `Datacenter 32: must be 0 to 31`},
		"negative":            {worker.Config{Datacenter: ref(int64(-1))}, `Datacenter -1: must be 0 to 31`},
		"another datacenter":  {worker.Config{Datacenter: ref(int64(2)), Preferred: ref(int64(7))}, `Preferred 7: must be 64 to 95`},
		"negative worker ID":  {worker.Config{Datacenter: ref(int64(2)), Preferred: ref(int64(-1))}, `Preferred -1: must be 64 to 95`},
		"the next datacenter": {worker.Config{Datacenter: ref(int64(0)), Preferred: ref(int64(32))}, `Preferred 32: must be 0 to 31`},
		"no datacenter bits":  {worker.Config{Layout: core.Sonyflake(), Datacenter: ref(int64(1))}, `Datacenter 1: must be nil: the layout has no datacenter bits`},
		"good":                {worker.Config{Datacenter: ref(int64(2)), Preferred: ref(int64(71)), RequirePreferred: true}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c.cfg.ClaimWait = -1
			lease, err := worker.Acquire(context.Background(), store, c.cfg)
			if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v lacks %s", err, c.want)
			}
			if c.want == "" {
				if err != nil || lease.Worker() != *c.cfg.Preferred {
					t.Fatal(err)
				}
				_ = lease.Close()
			}
		})
	}
}

// Rotate continues under another worker ID of the same datacenter.
func TestDatacenterRotates(t *testing.T) {
	inWorld(t, func(w *world) {
		layout := core.Layout{Epoch: testLayout.Epoch, TimeBits: 41, DatacenterBits: 2, WorkerBits: 1, SequenceBits: 12}
		lease := w.acquire(func(c *worker.Config) { c.Layout, c.Datacenter = layout, ref(int64(3)) })
		gen := w.generator(lease, core.Rotate{})
		for i, want := range []int64{6, 7, 7, 6} {
			w.ahead.Add(int64([]time.Duration{0, -5 * time.Second, 20 * time.Second, -5 * time.Second}[i]))
			id, err := gen.Next(w.Context())
			if err != nil {
				w.Fatal(err)
			}
			time.Sleep(time.Millisecond) // in which the worker ID before is released
			if p, _ := layout.Decode(id); p.Datacenter<<1|p.Worker != want || lease.Worker() != want {
				w.Errorf("step %d: %+v, the lease has %d, want %d", i, p, lease.Worker(), want)
			}
		}
	})
}

// A store's wrong answer must not lead to another datacenter's worker ID.
func TestDatacenterOfAStoreThatErrs(t *testing.T) {
	inWorld(t, func(w *world) {
		for _, wrong := range []int64{-1, 2, -33, 1 << 40} {
			w.store.set(func(f *flaky) {
				f.after = func(_ driver.Request, c driver.Claim, err error) (driver.Claim, error) {
					c.Worker = wrong
					return c, err
				}
			})
			cfg := worker.Config{
				Layout:    core.Layout{Epoch: testLayout.Epoch, TimeBits: 41, DatacenterBits: 2, WorkerBits: 1, SequenceBits: 12},
				Namespace: fmt.Sprint("errs", wrong), Datacenter: ref(int64(1)), ClaimWait: -1, Now: w.now,
			}
			lease, err := w.keep(worker.Acquire(w.Context(), w.store, cfg))
			if err == nil {
				w.Errorf("worker ID %d of the store became %d", wrong, lease.Worker())
				_ = lease.Close()
			} else if !strings.Contains(err.Error(), "does not match the request") {
				w.Errorf("%v", err)
			}
		}
	})
}
