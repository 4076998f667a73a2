package etcd

import (
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// A renewal, beside the floor: one transaction that writes a key.
func BenchmarkRenew(b *testing.B) {
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{testserver.Etcd(b).DSN}})
	if err != nil {
		b.Fatal(err)
	}
	defer client.Close()
	store, r := mustNew(New(client, Config{})), request(newNamespace())
	c, err := store.Claim(b.Context(), r)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("floor", func(b *testing.B) {
		for b.Loop() {
			if _, err := client.Txn(b.Context()).Then(clientv3.OpPut("floor#"+r.Namespace, r.ClaimID)).Commit(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("renew", func(b *testing.B) {
		for i := int64(0); b.Loop(); i++ {
			if err := store.Renew(b.Context(), driver.Renewal{Namespace: r.Namespace, Worker: c.Worker, FencingToken: 1, ClaimID: r.ClaimID, Fence: c.Fence + i, TTL: r.TTL}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
