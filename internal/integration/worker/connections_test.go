package worker

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
		db    *sql.DB
		close string
	}{
		"pgx":   {open(t, "pgx", testserver.Postgres(t).DSN), "SET default_transaction_read_only = on"},
		"libpq": {open(t, "postgres", testserver.Postgres(t).DSN), "SET default_transaction_read_only = on"},
		// A transaction that says READ WRITE is not affected.
		"mysql": {open(t, "mysql", testserver.MySQLs(t)[0].DSN), "SET SESSION TRANSACTION READ ONLY"},
	} {
		t.Run(name, func(t *testing.T) {
			c.db.SetMaxOpenConns(1)
			store := mustNew(sqlstore.New(c.db, sqlstore.Config{AllowDataLoss: true, Table: "read_only_" + name}))
			lease, err := worker.Open(t.Context(), store, worker.Config{Namespace: "read-only-" + name, FenceWindow: 3 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			defer lease.Close(context.Background())
			if _, err := c.db.ExecContext(t.Context(), c.close); err != nil {
				t.Fatal(err)
			}
			await(t, "renewal after a failure", func() bool {
				st := lease.Stats()
				return (st.Failures > 0 || name == "mysql" && st.Renewals > 2) && st.Failing == nil
			})
		})
	}
}
