package backfill

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate/backfill"
)

var errFault = errors.New("the connection is broken")

// fault breaks one step of a connection: a query, a statement, or the beginning or the end of a
// transaction.
type fault struct {
	driver driver.Driver
	dsn    string
	steps  atomic.Int64
	at     int64 // this step
	kind   string
	cancel func() // for cancelled
}

// The kinds of faults: the step is not done, or its answer is lost, or the run is cancelled before it.
const fails, losesAnswer, cancelled = "fails", "loses an answer", "cancelled"

func (f *fault) Connect(context.Context) (driver.Conn, error) {
	conn, err := f.driver.Open(f.dsn)
	return faultyConn{conn, f}, err
}

func (f *fault) Driver() driver.Driver { return f.driver }

func step[T any](f *fault, do func() (T, error)) (done T, err error) {
	if f.steps.Add(1) != f.at {
		return do()
	}
	switch f.kind {
	case fails:
		return done, errFault
	case cancelled:
		f.cancel()
		return do()
	}
	done, err = do()
	return done, cmp.Or(err, errFault)
}

type faultyConn struct {
	driver.Conn
	fault *fault
}

func (c faultyConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	return step(c.fault, func() (driver.Result, error) { return c.Conn.(driver.ExecerContext).ExecContext(ctx, query, args) })
}

func (c faultyConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if c.fault.kind == losesAnswer { // a query has no effect that could be lost with its answer
		c.fault.steps.Add(1)
		return c.Conn.(driver.QueryerContext).QueryContext(ctx, query, args)
	}
	return step(c.fault, func() (driver.Rows, error) { return c.Conn.(driver.QueryerContext).QueryContext(ctx, query, args) })
}

func (c faultyConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	tx, err := c.Conn.(driver.ConnBeginTx).BeginTx(ctx, opts)
	return faultyTx{tx, c.fault}, err
}

type faultyTx struct {
	driver.Tx
	fault *fault
}

func (tx faultyTx) Commit() error {
	ended, err := step(tx.fault, func() (bool, error) { return true, tx.Tx.Commit() })
	if !ended && errors.Is(err, errFault) {
		_ = tx.Rollback() // as the database does with a transaction that was not committed
	}
	return err
}

// Wherever a run fails or is cancelled, and if an answer is lost, the next run completes it, and
// no row is half-written.
func TestEveryStep(t *testing.T) {
	for _, kind := range []string{fails, losesAnswer, cancelled} {
		t.Run(kind, func(t *testing.T) {
			at := int64(1)
			for ; brokenAt(t, &fault{kind: kind, at: at}); at++ {
				if t.Failed() {
					t.Fatalf("at step %d", at)
				}
			}
			if at < 40 {
				t.Errorf("%d steps", at)
			}
		})
	}
}

// brokenAt reports whether the run had the step.
func brokenAt(t *testing.T, f *fault) bool {
	t.Helper()
	db := openSQLite(t)
	db.SetMaxOpenConns(1)
	db.run(t, "CREATE TABLE orders (id integer PRIMARY KEY, parent_id bigint REFERENCES orders, created_at datetime)",
		"CREATE TABLE refs (id integer PRIMARY KEY, order_id bigint REFERENCES orders)", "CREATE INDEX refs_order_id ON refs (order_id)")
	for i := 1; i <= 5; i++ {
		db.run(t, fmt.Sprintf("INSERT INTO orders VALUES (%d, %d, '2024-01-01 00:00:0%d')", i, 6-i, i/2), fmt.Sprintf("INSERT INTO refs VALUES (%d, %[1]d)", i))
	}
	f.driver, f.dsn = db.Driver(), db.DSN
	faulty := sql.OpenDB(f)
	defer faulty.Close()
	cfg := db.config(t)
	cfg.BatchSize = 2
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	f.cancel = cancel
	_, first := backfill.Run(ctx, faulty, cfg)
	whole := "SELECT count(*) FROM refs r JOIN orders o ON o.id = r.order_id WHERE r.order_id_snowkey IS NOT o.id_snowkey"
	if columns := db.One(t, "SELECT (SELECT count(*) FROM pragma_table_info('orders') WHERE name LIKE '%snowkey') + (SELECT count(*) FROM pragma_table_info('refs') WHERE name LIKE '%snowkey')"); columns == "3" {
		db.Expect(t, "0", whole)
	}
	if first != nil {
		if result, err := backfill.Run(t.Context(), db.DB, cfg); err != nil {
			t.Errorf("after %v: %+v, %v", first, result, err)
		}
	}
	db.Expect(t, "0", whole,
		"SELECT count(*) FROM orders c JOIN orders o ON o.id = c.parent_id WHERE c.parent_id_snowkey IS NOT o.id_snowkey",
		"SELECT count(*) FROM orders WHERE id_snowkey IS NULL", "SELECT count(*) - count(DISTINCT id_snowkey) FROM orders",
		"SELECT count(*) FROM orders a JOIN orders b ON a.created_at < b.created_at AND a.id_snowkey > b.id_snowkey")
	return f.steps.Load() >= f.at
}
