package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// Reserve implements serial.Counter: it takes n numbers of a key, first to
// first+n-1, from 1 on. It is one statement, atomic over all processes; in MySQL and
// MariaDB it has BEGIN and COMMIT around it, for sessions with autocommit off. Where
// the answer is lost, the numbers are taken all the same, and nobody has them.
//
// A key is 1 to 64 letters, digits and . _ - : / of ASCII. Count and Reserve of one
// name count together. Keys stay until you delete them: a day's may go when nobody
// will ask for that day any more. SQLite must be 3.35 or later.
func (s *Store) Reserve(ctx context.Context, key string, n int64) (first int64, _ error) {
	if err := driver.CheckReservation(key, n); err != nil {
		return 0, err
	}
	what := fmt.Sprintf("reserve %d numbers of key %q", n, key)
	return bound(ctx, s, what, func() (int64, error) { return s.reserve(ctx, key, n) })
}

func (s *Store) reserve(ctx context.Context, key string, n int64) (first int64, err error) {
	st, err := s.prepareTables(ctx, counterTable)
	if err != nil {
		return 0, err
	}
	// What a conflict has undone did not count. Nor would it matter: to reserve again
	// is to take other numbers.
	err = repeat(ctx, func() (bool, error) {
		return true, s.alone(ctx, st.cfg.Dialect, func(q querier) (err error) {
			first, err = st.reserveOn(ctx, q, key, n)
			return err
		})
	})
	if err != nil {
		return 0, fmt.Errorf("sqlstore: reserve %d numbers of key %q: %w", n, key, err)
	}
	return first, nil
}

// PrepareCounters sees to it that the table of the counters is there, and that the
// database keeps what it commits. Reserve does it by itself; call it once before
// the first In, which is too late to create a table.
func (s *Store) PrepareCounters(ctx context.Context) error {
	_, err := s.prepareTables(ctx, counterTable)
	return err
}

// A Tx is a transaction of database/sql: a *sql.Tx, or what gorm has in
// tx.Statement.ConnPool within a transaction. A pool, such as a *sql.DB, is an error of
// Reserve.
type Tx interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// InTx reserves numbers within one transaction. See [Store.In].
type InTx struct {
	store *Store
	tx    Tx
}

// In gives a counter that reserves within a transaction of yours: what is rolled
// back was never taken, so the numbers that are committed have no gaps. Until the
// transaction ends, others who reserve under the same key wait for it.
//
// An error of Reserve is the transaction's: roll back, and where the database says
// that it gave way to another transaction, begin anew. In MySQL two transactions
// that both use a new key first may meet so.
func (s *Store) In(tx Tx) InTx { return InTx{s, tx} }

// Reserve implements serial.Counter.
func (t InTx) Reserve(ctx context.Context, key string, n int64) (first int64, err error) {
	if err := driver.CheckReservation(key, n); err != nil {
		return 0, err
	}
	if err := checkTx(t.tx); err != nil {
		return 0, err
	}
	if t.store == nil || !t.store.found.Load().has(counterTable) {
		return 0, &core.ConfigError{Package: "sqlstore", Fields: []core.FieldError{{Field: "Store", Value: "not prepared", Reason: "PrepareCounters must have been called before a transaction that reserves"}}}
	}
	first, err = t.store.found.Load().st.reserveOn(ctx, t.tx, key, n)
	if err != nil {
		return 0, fmt.Errorf("sqlstore: reserve %d numbers of key %q: %w", n, key, err)
	}
	return first, nil
}

// checkTx refuses what is no transaction. A pool takes the statement and commits it by
// itself, which leaves gaps; or not at all, in sessions of MySQL with autocommit off, and
// then the numbers are given again.
func checkTx(tx Tx) error {
	value, reason := "", ""
	if v := reflect.ValueOf(tx); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		value, reason = "nil", "must be a transaction, given to In"
	} else if _, ends := tx.(interface{ Commit() error }); !ends {
		switch tx.(type) {
		case interface{ SetMaxOpenConns(int) }, // *sql.DB, and what embeds it
			interface{ GetDBConn() (*sql.DB, error) }: // gorm's, with PrepareStmt
			value, reason = fmt.Sprintf("%T", tx), "is a pool, which is in no transaction: In must be given what BeginTx returned"
		}
	}
	if reason == "" {
		return nil
	}
	return &core.ConfigError{Package: "sqlstore", Fields: []core.FieldError{{Field: "tx", Value: value, Reason: reason}}}
}

// reserveOn runs the statement, and says the first number from the last.
func (st *statements) reserveOn(ctx context.Context, tx Tx, key string, n int64) (first int64, err error) {
	var last int64
	if st.cfg.Dialect == MySQL {
		result, err := tx.ExecContext(ctx, st.reserve, key, n, n)
		if err != nil {
			return 0, err
		}
		if last, err = result.LastInsertId(); err != nil {
			return 0, err
		}
	} else if last, err = one(tx.QueryContext(ctx, st.reserve, key, n)); err != nil {
		return 0, err
	}
	if last < n {
		return 0, fmt.Errorf("the counter came to %d: it was changed, or what stands between here and the database lost the answer", last)
	}
	return last - n + 1, nil
}

// one reads the number that a statement returns, and reads on to its end: the row may
// come before the commit, and its failure after the row.
func one(rows *sql.Rows, err error) (n int64, _ error) {
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	found := false
	for rows.Next() {
		if err := rows.Scan(&n); err != nil {
			return 0, err
		}
		found = true
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return 0, err
	}
	if !found {
		return 0, errors.New("the counter would pass the greatest number of 64 bits")
	}
	return n, nil
}

// ReserveSQL is the statement of Reserve for those who do not come by database/sql,
// such as a transaction of pgx: its arguments are the key and how many, and the one
// row that it returns is the last of the numbers. The Config must have a Dialect,
// and MySQL's has no such statement.
func (cfg Config) ReserveSQL() (string, error) {
	if err := cfg.completeFor("must be Postgres or SQLite", Postgres, SQLite); err != nil {
		return "", err
	}
	return cfg.statements().reserve, nil
}
