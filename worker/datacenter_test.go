package worker_test

import (
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
			store := memstore.New(memstore.Config{}) // each datacenter has a separate store
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
	lease, err := worker.Acquire(t.Context(), store, worker.Config{Datacenter: ref(int64(1)), ClaimWait: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer lease.Close()
	for _, other := range []*int64{nil, ref(int64(0)), ref(int64(2))} {
		var layout *worker.LayoutError
		if _, err := worker.Acquire(t.Context(), store, worker.Config{Datacenter: other, ClaimWait: -1}); !errors.As(err, &layout) {
			t.Errorf("datacenter %v in the namespace of datacenter 1: %v", other, err)
		}
	}
}

// Config.Preferred is a worker ID of the layout, and Rotate continues under another one of the same datacenter.
func TestDatacenterRotates(t *testing.T) {
	inWorld(t, func(w *world) {
		layout := core.Layout{Epoch: testLayout.Epoch, TimeBits: 41, DatacenterBits: 2, WorkerBits: 1, SequenceBits: 12}
		lease := w.acquire(func(c *worker.Config) { c.Layout, c.Datacenter, c.Preferred = layout, ref(int64(3)), ref(int64(7)) })
		gen := w.generator(lease, core.Rotate{})
		for i, want := range []int64{7, 6, 6, 7} {
			w.ahead.Add(int64([]time.Duration{0, -5 * time.Second, 20 * time.Second, -5 * time.Second}[i]))
			id, err := gen.Next(w.Context())
			if err != nil {
				w.Fatal(err)
			}
			time.Sleep(time.Millisecond) // time to release the previous worker ID
			if p, _ := layout.Decode(id); p.Datacenter<<1|p.Worker != want || lease.Worker() != want {
				w.Errorf("step %d: %+v, the lease has %d, want %d", i, p, lease.Worker(), want)
			}
		}
	})
}

// A store's wrong answer must not lead to another datacenter's worker ID.
func TestDatacenterOfAStoreThatErrs(t *testing.T) {
	inWorld(t, func(w *world) {
		w.cfg.Layout.DatacenterBits, w.cfg.Datacenter, w.cfg.ClaimWait = 2, ref(int64(1)), -1
		for _, wrong := range []int64{-1, 4, -33, 1 << 40} {
			w.cfg.Namespace = fmt.Sprint("errs", wrong)
			w.store.set(func(f *flaky) {
				f.after = func(_ driver.Claim, c driver.Lease, err error) (driver.Lease, error) {
					c.Worker = wrong
					return c, err
				}
			})
			if _, err := w.keep(worker.Acquire(w.Context(), w.store, w.cfg)); err == nil || !strings.Contains(err.Error(), "does not match the claim") {
				w.Errorf("worker ID %d of the store: %v", wrong, err)
			}
		}
	})
}
