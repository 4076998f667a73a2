package sqlstore

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/internal/fields"
	"github.com/seed-299c1d6b/snowkey/internal/leasetables"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// Reserve implements driver.Counter: it takes the n numbers first to first+n-1 of a key. The first
// number of a key is 1. Reserve is one statement, atomic over all processes, which commits by itself.
// If the answer is lost, the numbers are taken and never used. SQLite must be 3.35 or later.
//
// A key follows the rules of a namespace. Keys stay in the table until you delete them: delete a key
// when its numbers are no longer needed, for example the key of a past day.
func (s *Store) Reserve(ctx context.Context, key string, n int64) (first int64, _ error) {
	if err := driver.CheckReservation(key, n); err != nil {
		return 0, err
	}
	return call(ctx, s, reserveText(key, n), counterTables, func(x session) (first int64, err error) {
		if x.Dialect == ddl.SQLite { // the others check in the statement
			if err := x.checkDurable(ctx); err != nil {
				return 0, err
			}
		}
		last, _, err := x.writeReturning(ctx, maxLockWait, "value", x.reserve(x.fill("?", key), fmt.Sprint(n), "{gate}"))
		if err != nil {
			return 0, err
		}
		return firstOf(last, n)
	})
}

func reserveText(key string, n int64) string {
	return fmt.Sprintf("reserve %d numbers of key %q", n, key)
}

// PrepareCounters creates the table of the counters if it is missing, and checks that the
// database keeps what it commits. Reserve does both by itself. Call PrepareCounters before the first
// [Store.In], because a table cannot be created within your transaction.
func (s *Store) PrepareCounters(ctx context.Context) error {
	_, err := call(ctx, s, "prepare the counters", counterTables, func(x session) (none struct{}, err error) { return none, x.checkDurable(ctx) })
	return err
}

// A Tx is a transaction of database/sql: a *sql.Tx, or gorm's tx.Statement.ConnPool within a
// transaction. With a pool, such as a *sql.DB, Reserve returns an error.
type Tx interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// InTx reserves numbers within one transaction. Make it with [Store.In]; the zero value returns
// a *core.ConfigError.
type InTx struct {
	store *Store
	tx    Tx
}

// In returns a counter that reserves within your transaction. If you roll back, the numbers were never
// taken, so committed numbers have no gaps. Other reservations under the same key wait until the
// transaction ends.
//
// After an error of Reserve, roll back; if the database reports a serialization failure or a
// deadlock, repeat the transaction. In MySQL, two transactions that are the first to use a key
// may deadlock.
func (s *Store) In(tx Tx) InTx { return InTx{s, tx} }

// Reserve implements driver.Counter.
func (t InTx) Reserve(ctx context.Context, key string, n int64) (first int64, err error) {
	if err := driver.CheckReservation(key, n); err != nil {
		return 0, err
	}
	if err := checkTx(t.tx); err != nil {
		return 0, err
	}
	if t.store == nil || !t.store.has(counterTables) {
		return 0, fields.Error("sqlstore", "Store", "not prepared", "call PrepareCounters before the transaction")
	}
	cfg := t.store.inspected.Load().Config
	args := []any{key, n}
	if cfg.Dialect == ddl.MySQL {
		args = []any{key, n, n}
	}
	last, _, err := cfg.execReturning(ctx, t.tx, cfg.reserveIn(), args...)
	if err == nil {
		first, err = firstOf(last, n)
	}
	if err != nil {
		return 0, fmt.Errorf("sqlstore: %s: %w", reserveText(key, n), err)
	}
	return first, nil
}

// checkTx returns an error unless tx is a transaction. A pool would commit the statement by itself,
// which leaves gaps. In MySQL sessions with autocommit off it would not commit at all, and the numbers
// would be issued again.
func checkTx(tx Tx) error {
	if fields.IsNil(tx) {
		return fields.Error("sqlstore", "tx", nil, "must be a transaction, given to In")
	}
	if _, ends := tx.(interface{ Commit() error }); !ends {
		return fields.Error("sqlstore", "tx", fmt.Sprintf("%T", tx), "is not a transaction: give In the result of BeginTx")
	}
	return nil
}

// reserve returns one statement that adds to a counter, and creates it if it is missing.
func (cfg Config) reserve(key, n, gate string) string {
	alias, value, update := " AS c", n, " ON CONFLICT (name) DO UPDATE SET value = c.value + excluded.value"
	if cfg.Dialect == ddl.MySQL {
		alias, value, update = "", "LAST_INSERT_ID("+n+")", " ON DUPLICATE KEY UPDATE value = LAST_INSERT_ID(value + "+n+")"
	}
	row := "VALUES (" + key + ", " + value + ")"
	if gate != "" {
		row = "SELECT " + key + ", " + value + " FROM (SELECT 1 AS one) o WHERE 1 = 1" + gate
	}
	return "INSERT INTO " + cfg.tables("main").Quoted(leasetables.Counters) + alias + " (name, value) " + row + update
}

// reserveIn returns the statement for a transaction of the caller.
func (cfg Config) reserveIn() string {
	switch cfg.Dialect {
	case ddl.MySQL:
		return cfg.reserve("?", "?", "")
	case ddl.Postgres:
		return cfg.reserve("$1", "$2", "") + " RETURNING value"
	}
	return cfg.reserve("?", "?", "") + " RETURNING value"
}

// firstOf returns the first of n numbers, given the last.
func firstOf(last, n int64) (first int64, err error) {
	if last < n {
		return 0, fmt.Errorf("the counter is only %d afterwards: it was changed, or a proxy lost the answer", last)
	}
	return last - n + 1, nil
}

// ReserveSQL returns the statement of Reserve, for transactions outside database/sql, such as those of
// pgx. Its arguments are the key and n. It returns one row with the last of the numbers. The Dialect
// must be Postgres or SQLite; MySQL has no such statement.
func (cfg Config) ReserveSQL() (string, error) {
	var wrong fields.Errors
	cfg.validate(&wrong, "must be postgres or sqlite", ddl.Postgres, ddl.SQLite)
	if err := wrong.Err("sqlstore"); err != nil {
		return "", err
	}
	return cfg.reserveIn(), nil
}
