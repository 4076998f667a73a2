// Package pgxtest begins transactions of pgx for tests:
//
//	func TestOrders(t *testing.T) {
//		tx := pgxtest.Begin(t, pool)
//		gen := snowkeytest.New(t, snowkeytest.Config{})
//		…
//	}
package pgxtest

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-299c1d6b/snowkey/pgxtype"
)

// A Beginner is a *pgxpool.Pool, a *pgx.Conn or a pgx.Tx.
type Beginner interface {
	Begin(ctx context.Context) (pgx.Tx, error)
}

// rollbackTimeout is for a server that hangs.
const rollbackTimeout = 10 * time.Second

// Begin begins a transaction that supports the types of package sqltype, and rolls it back when the
// test ends. So tests can share a database and leave nothing in it. An error fails the test at
// once.
func Begin(t testing.TB, db Beginner) pgx.Tx {
	t.Helper()
	tx, err := db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // after t.Context is done
		ctx, cancel := context.WithTimeout(context.Background(), rollbackTimeout)
		defer cancel()
		_ = tx.Rollback(ctx) // the test may have ended it
	})
	pgxtype.Register(tx.Conn().TypeMap())
	return tx
}
