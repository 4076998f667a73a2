package worker

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/internal/integration/engines"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

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
			store := engines.MustNew(sqlstore.New(c.db, sqlstore.Config{Table: "read_only_" + name}))
			lease, err := worker.Open(t.Context(), store, worker.Config{Namespace: "read-only-" + name, FenceWindow: 3 * time.Second})
			must(t, err)
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
