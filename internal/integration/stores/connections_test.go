package stores

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// asking counts the requests for a connection, with no idle ones kept.
type asking struct {
	driver.Connector
	asked atomic.Int64
}

func (c *asking) Connect(ctx context.Context) (driver.Conn, error) {
	c.asked.Add(1)
	return c.Connector.Connect(ctx)
}

// A claim and a release wait for a connection once each, because the queue may be long.
func TestOneConnection(t *testing.T) {
	for name, connect := range map[string]func(t *testing.T) (driver.Connector, error){
		"postgres": func(t *testing.T) (driver.Connector, error) {
			cfg, err := pgx.ParseConfig(testserver.NewPostgres(t).DSN)
			if err != nil {
				return nil, err
			}
			return stdlib.GetConnector(*cfg), nil
		},
		"mariadb": func(t *testing.T) (driver.Connector, error) {
			cfg, err := mysql.ParseDSN(testserver.NewMariaDB(t).DSN)
			if err != nil {
				return nil, err
			}
			return mysql.NewConnector(cfg)
		},
	} {
		t.Run(name, func(t *testing.T) {
			connector, err := connect(t)
			if err != nil {
				t.Fatal(err)
			}
			c := &asking{Connector: connector}
			db := sql.OpenDB(c)
			defer db.Close()
			db.SetMaxIdleConns(-1)
			store := mustNew(sqlstore.New(db, sqlstore.Config{AllowDataLoss: true}))
			if _, err := store.List(t.Context(), "default"); err != nil { // it looks at the database first
				t.Fatal(err)
			}
			asked := func(what string, f func()) {
				t.Helper()
				c.asked.Store(0)
				if f(); c.asked.Load() != 1 {
					t.Errorf("%s: %d connections", what, c.asked.Load())
				}
			}
			var lease *worker.Generator
			asked("claim", func() {
				if lease, err = worker.Open(t.Context(), store, long); err != nil {
					t.Fatal(err)
				}
			})
			asked("release", func() {
				if err := lease.Close(context.Background()); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

// A connection that rejects writes is closed: it may lead to a primary that has become a
// standby, while new ones lead to the new primary.
func TestReadOnlyConnection(t *testing.T) {
	for name, c := range map[string]struct {
		open  func(t *testing.T) *sql.DB
		close string
	}{
		"postgres": {func(t *testing.T) *sql.DB { return open(t, "pgx", testserver.Postgres(t).DSN) }, "SET default_transaction_read_only = on"},
		"mariadb":  {func(t *testing.T) *sql.DB { return open(t, "mysql", testserver.MySQLs(t)[0].DSN) }, "SET SESSION TRANSACTION READ ONLY"},
	} {
		t.Run(name, func(t *testing.T) {
			db := c.open(t)
			db.SetMaxOpenConns(1)
			store := mustNew(sqlstore.New(db, sqlstore.Config{AllowDataLoss: true, Table: "read_only_connection"}))
			lease, err := worker.Open(t.Context(), store, worker.Config{FenceWindow: 3 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			defer lease.Close(context.Background())
			if _, err := db.ExecContext(t.Context(), c.close); err != nil {
				t.Fatal(err)
			}
			for began := time.Now(); lease.Stats().Failures == 0 || lease.Stats().Failing != nil; time.Sleep(20 * time.Millisecond) {
				if time.Since(began) > 10*time.Second {
					t.Fatalf("%+v", lease.Stats())
				}
			}
		})
	}
}
