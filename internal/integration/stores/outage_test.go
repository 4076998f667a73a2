package stores

import (
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/worker"
)

// rideOutAKill kills the store's server under a lease and starts it again: ids
// go on meanwhile, and the number stays.
func rideOutAKill(t *testing.T, server *testserver.Server, store worker.Store) {
	t.Helper()
	lease, err := worker.Acquire(t.Context(), store, worker.Config{Window: 20 * time.Second, Renew: time.Second, TTL: 30 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	gen, err := core.New(core.Config{Worker: lease})
	if err != nil {
		t.Fatal(err)
	}
	defer gen.Close()
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	await(t, "a failure", func() bool { return lease.Stats().Failures > 0 })
	before := lease.Stats()
	if _, err := gen.Next(t.Context()); err != nil {
		t.Errorf("while the server is down: %v", err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	await(t, "a renewal", func() bool { return lease.Stats().Renewals > before.Renewals })
	if st := lease.Stats(); st.Losses > 0 || st.Claims != 1 {
		t.Errorf("%+v", st)
	}
	if _, err := gen.Next(t.Context()); err != nil {
		t.Error(err)
	}
	if err := lease.Close(); err != nil {
		t.Error(err)
	}
}
