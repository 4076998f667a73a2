package stores

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/redisstore"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// A record without a number for its fence is an error. It is neither skipped nor replaced by a new
// one, whose fence may be too early. contrib/etcd has the same test.
func TestRecordThatCannotBeRead(t *testing.T) {
	for name, open := range map[string]func(t *testing.T) (store driver.Store, damage func() error){
		"sqlite": func(t *testing.T) (driver.Store, func() error) {
			db := open(t, "sqlite", filepath.Join(t.TempDir(), "test.sqlite"))
			return mustNew(sqlstore.New(db, sqlstore.Config{})), func() error {
				_, err := db.Exec("UPDATE snow_worker SET until_ts = 'soon'")
				return err
			}
		},
		"redis": func(t *testing.T) (driver.Store, func() error) {
			c := client(t, testserver.Redis(t))
			return mustNew(redisstore.New(evaler(c, false), redisstore.Config{Prefix: t.Name(), AllowDataLoss: true})), func() error {
				return c.HSet(t.Context(), t.Name()+"worker:{default}", "0", "2\n\n").Err()
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			store, damage := open(t)
			r := driver.Request{
				Namespace: "default", Layout: "layout", WorkerIDs: 8, Preferred: -1, Exclude: -1, ClaimID: "first",
				Now: time.Now().UnixMilli(), FenceWindow: 1000, TTL: 60_000, MaxSkew: 60_000, MaxLead: 60_000,
			}
			c, err := store.Claim(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			if err := store.Release(t.Context(), driver.Return{Namespace: "default", Worker: c.Worker, FencingToken: c.FencingToken, ClaimID: "first", Fence: c.From}); err != nil {
				t.Fatal(err)
			}
			if err := damage(); err != nil {
				t.Fatal(err)
			}
			r.ClaimID = "second"
			if c, err := store.Claim(t.Context(), r); err == nil {
				t.Errorf("a claim: %+v", c)
			}
		})
	}
}
