package stores

import (
	"errors"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// A store does not depend on a session: each statement may run in another one, as behind a
// pooler in transaction mode.
func TestASessionForEachStatement(t *testing.T) {
	onEvery(t, func(t *testing.T, e engine) {
		db := e.open(t)
		db.SetMaxIdleConns(-1)
		store := mustNew(sqlstore.New(db, sqlstore.Config{AllowDataLoss: true}))
		r := driver.Request{
			Namespace: "x", Layout: "l", WorkerIDs: 1, Preferred: -1, Exclude: -1, ClaimID: "first", Owner: "o",
			Now: time.Now().UnixMilli(), FenceWindow: 1000, TTL: 3_600_000, MaxSkew: 1 << 40, MaxLead: 1 << 40,
		}
		first, err := store.Claim(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		until := first.Fence + 5000
		if err := store.Renew(t.Context(), driver.Renewal{Namespace: "x", Worker: first.Worker, FencingToken: first.FencingToken, ClaimID: "first", Fence: until, TTL: r.TTL}); err != nil {
			t.Error(err)
		}
		r.ClaimID = "second"
		if _, err := store.Claim(t.Context(), r); !errors.Is(err, worker.ErrNoWorkerID) {
			t.Errorf("a number that is held: %v", err)
		}
		if err := store.Release(t.Context(), driver.Return{Namespace: "x", Worker: first.Worker, FencingToken: first.FencingToken, ClaimID: "first", Fence: until - 1}); err != nil {
			t.Error(err)
		}
		second, err := store.Claim(t.Context(), r)
		if err != nil || second.From != until-1 || second.FencingToken != first.FencingToken+1 {
			t.Errorf("released from %d on: %+v, %v", until-1, second, err)
		}
		if rows, err := store.List(t.Context(), "x"); err != nil || len(rows) != 1 || rows[0].ClaimID != "second" {
			t.Errorf("%+v, %v", rows, err)
		}
		for want := range int64(3) {
			if n, err := store.Count(t.Context(), "starts"); err != nil || n != want {
				t.Errorf("%d, %v", n, err)
			}
		}
	})
}
