package stores

import (
	"context"
	"database/sql"
	"net/url"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/redis/go-redis/v9"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/seed-299c1d6b/snowkey/contrib/etcd"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/redisstore"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// far is the round trip to the other side of the world.
const far = 280 * time.Millisecond

// The first Open succeeds with all defaults, however far the database is: a claim that runs
// out of time keeps its connection, and what it has learned about the database.
func TestFirstOpenFromAfar(t *testing.T) {
	for _, c := range []struct {
		name  string
		start func(t *testing.T) *testserver.Server
		open  func(t *testing.T, server *testserver.Server, roundTrip time.Duration) (db *sql.DB)
	}{
		{"postgres", func(t *testing.T) *testserver.Server {
			return testserver.New(t, testserver.KindPostgres, "-c", "fsync=on")
		}, func(t *testing.T, server *testserver.Server, roundTrip time.Duration) *sql.DB {
			u, err := url.Parse(inDatabase(t, server.DSN))
			if err != nil {
				t.Fatal(err)
			}
			u.Host = testserver.Delayed(t, server.Addr, roundTrip)
			return open(t, "pgx", u.String())
		}},
		{"mariadb", func(t *testing.T) *testserver.Server {
			return testserver.New(t, testserver.KindMariaDB, "--innodb-flush-log-at-trx-commit=1")
		}, func(t *testing.T, server *testserver.Server, roundTrip time.Duration) *sql.DB {
			cfg, err := mysql.ParseDSN(server.DSN)
			if err != nil {
				t.Fatal(err)
			}
			cfg.DBName = create(t, open(t, "mysql", server.DSN), "")
			cfg.Addr = testserver.Delayed(t, server.Addr, roundTrip)
			return open(t, "mysql", cfg.FormatDSN())
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel() // it waits, mostly
			server := c.start(t)
			db := c.open(t, server, far)
			for _, tables := range []string{"to be created", "there"} {
				fromAfar(t, "tables "+tables+": ", mustNew(sqlstore.New(db, sqlstore.Config{})))
				db.SetMaxIdleConns(0) // the next one has to connect again
				db.SetMaxIdleConns(2)
			}
		})
	}
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		c := redis.NewClient(&redis.Options{Addr: testserver.Delayed(t, testserver.NewRedis(t).Addr, far)})
		t.Cleanup(func() { _ = c.Close() })
		fromAfar(t, "", mustNew(redisstore.New(evaler(c, false), redisstore.Config{})))
	})
	t.Run("etcd", func(t *testing.T) {
		t.Parallel()
		c, err := clientv3.New(clientv3.Config{Endpoints: []string{testserver.Delayed(t, testserver.NewEtcd(t).Addr, far)}, Logger: zap.NewNop()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		fromAfar(t, "", mustNew(etcd.New(c, etcd.Config{})))
	})
}

func fromAfar(t *testing.T, what string, store driver.Store) {
	t.Helper()
	began := time.Now()
	lease, err := worker.Open(t.Context(), store, worker.Config{})
	took := time.Since(began)
	t.Logf("%s%v, %.1f round trips", what, took.Round(time.Millisecond), float64(took)/float64(far))
	if err != nil {
		t.Fatalf("%s%v", what, err)
	}
	if err := lease.Close(context.Background()); err != nil {
		t.Error(err)
	}
}
