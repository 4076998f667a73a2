package httpstore

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/memstore"
)

// lossy loses the answers to claims, which the server has carried out.
type lossy struct {
	http.RoundTripper
	loses atomic.Bool
}

func (l *lossy) RoundTrip(r *http.Request) (*http.Response, error) {
	got, err := l.RoundTripper.RoundTrip(r)
	if err == nil && l.loses.Load() && strings.HasSuffix(r.URL.Path, "/claim") {
		got.Body.Close()
		return nil, http.ErrHandlerTimeout
	}
	return got, err
}

// checks is another's client, which returns no claim that does not match the request.
type checks struct{ *Store }

func (c checks) Claim(ctx context.Context, q driver.Claim) (driver.Lease, error) {
	got, err := c.Store.Claim(ctx, q)
	if err == nil {
		err = q.CheckLease(got)
	}
	return got, err
}

// A generator wants another worker ID, the answer to the claim is lost, and then its present
// worker ID comes free or is taken. The claim, repeated, is the same request, so the store's
// answer to it fits; ids continue, and no worker ID stays leased without a holder.
func TestUnansweredClaimAndLoss(t *testing.T) {
	for _, taken := range []bool{false, true} {
		t.Run(fmt.Sprint("taken ", taken), func(t *testing.T) {
			mem := new(memstore.Store)
			network := &lossy{RoundTripper: &http.Transport{}}
			store := mustNew(New(Config{URL: open(t, handlerOf(t, mem)).server.URL, Token: secret, Client: &http.Client{Transport: network}}))
			var back atomic.Int64
			gen, err := worker.Open(t.Context(), checks{store}, worker.Config{
				ClockPolicy: core.Rotate{}, FenceWindow: 2 * time.Hour, RenewInterval: 50 * time.Millisecond, NoExpiry: true, MaxSkew: time.Hour,
				Now: func() time.Time { return time.Now().Add(-time.Duration(back.Load())) },
			})
			if err != nil {
				t.Fatal(err)
			}
			defer gen.Close(t.Context())
			seen := map[int64]bool{}
			draw := func() bool {
				id, err := gen.Next(t.Context())
				if err == nil && seen[id] {
					t.Fatalf("id %d was issued twice", id)
				}
				seen[id] = err == nil
				return err == nil
			}
			held := func() []driver.Record {
				st, err := mem.List(t.Context(), "default")
				if err != nil {
					t.Fatal(err)
				}
				return slices.DeleteFunc(st.Records, func(r driver.Record) bool { return r.Status != driver.Held && r.Status != driver.Kept })
			}
			draw()
			network.loses.Store(true)
			back.Store(int64(10 * time.Minute))
			await(t, "the claim of another worker ID", func() bool { draw(); return len(held()) == 2 })
			first := held()[0]
			if first.Worker != gen.Worker() {
				t.Fatalf("%+v, and the generator has worker ID %d", first, gen.Worker())
			}
			st, err := mem.List(t.Context(), "default")
			if err != nil {
				t.Fatal(err)
			}
			st.Records[0].Status = driver.Released // as it may be on a store that was put back
			mem.Put(st)
			others := 0
			if taken {
				others = 1
				thief := claim()
				thief.FenceWindow, thief.MaxSkew = (2 * time.Hour).Milliseconds(), time.Hour.Milliseconds()
				thief.Namespace, thief.Layout, thief.WorkerIDs = "default", driver.Fingerprint(core.Twitter()), core.Twitter().WorkerIDs()
				thief.Preferred, thief.RequirePreferred = first.Worker, true
				if _, err := mem.Claim(t.Context(), thief); err != nil {
					t.Fatal(err)
				}
			}
			await(t, "a renewal that finds the worker ID gone", func() bool { return gen.Stats().State == "lost" })
			network.loses.Store(false)
			back.Store(0) // so the generator does not ask for another worker ID any more
			await(t, "the lease has a worker ID", func() bool { return gen.Stats().State == "held" })
			await(t, "the release of what is not wanted", func() bool { return len(held()) == 1+others })
			await(t, "another id", draw)
		})
	}
}
