package serial

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/seed-299c1d6b/snowkey/internal/integration/engines"
	"github.com/seed-299c1d6b/snowkey/internal/retry"
	"github.com/seed-299c1d6b/snowkey/serial"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// openCommitting opens the database with autocommit.
func openCommitting(t *testing.T, e engine) *sql.DB {
	t.Helper()
	if e.driver == "mysql" {
		cfg, err := mysql.ParseDSN(e.dsn)
		must(t, err)
		cfg.Params = nil
		return open(t, "mysql", cfg.FormatDSN())
	}
	return open(t, e.driver, e.dsn)
}

var errChangedMind = errors.New("the caller changes its mind")

// Invoices that are numbered and written in one transaction have no gaps, even if every third
// is rolled back and many are written at once.
func TestNoGaps(t *testing.T) {
	const handles, goroutines, each = 3, 2, 12
	onEverySQL(t, func(t *testing.T, e engine) {
		admin := openCommitting(t, e)
		if _, err := admin.Exec("CREATE TABLE invoices (number VARCHAR(40) PRIMARY KEY)"); err != nil {
			t.Fatal(err)
		}
		code := code()
		var turn atomic.Int64
		var wg sync.WaitGroup
		for range handles {
			db := open(t, e.driver, e.dsn)
			store := engines.MustNew(sqlstore.New(db, sqlstore.Config{AllowDataLoss: true}))
			must(t, store.PrepareCounters(t.Context()))
			n, err := serial.NewNumbers(numbering(store, code, 100))
			must(t, err)
			for range goroutines {
				wg.Go(func() {
					for range each {
						fail := turn.Add(1)%3 == 0
						err := inTransaction(t.Context(), db, func(tx *sql.Tx) error {
							number, err := n.NextIn(t.Context(), store.In(tx))
							if err != nil {
								return err
							}
							if _, err := tx.Exec("INSERT INTO invoices VALUES ('" + number + "')"); err != nil {
								return err
							}
							if fail {
								return errChangedMind
							}
							return nil
						})
						if err != nil && !errors.Is(err, errChangedMind) {
							t.Error(err)
						}
					}
				})
			}
		}
		wg.Wait()
		var rows int
		var least, most string
		must(t, admin.QueryRow("SELECT count(*), min(number), max(number) FROM invoices").Scan(&rows, &least, &most))
		const want = handles * goroutines * each * 2 / 3
		if rows != want || least != "INV-20261121-000001" || most != fmt.Sprintf("INV-20261121-%06d", want) {
			t.Errorf("%d invoices from %s to %s, want %d without gaps", rows, least, most, want)
		}
	})
}

// inTransaction retries after a deadlock or a serialization failure.
func inTransaction(ctx context.Context, db *sql.DB, f func(*sql.Tx) error) error {
	for {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		if err = f(tx); err == nil {
			err = tx.Commit()
		} else {
			_ = tx.Rollback()
		}
		if !retry.IsUndone(err) || ctx.Err() != nil {
			return err
		}
	}
}

// A transaction that reserves before the store has checked its table gets an error at once,
// instead of waiting for a connection that it holds itself.
func TestNotPrepared(t *testing.T) {
	onEverySQL(t, func(t *testing.T, e engine) {
		db := open(t, e.driver, e.dsn)
		db.SetMaxOpenConns(1)
		store := engines.MustNew(sqlstore.New(db, sqlstore.Config{AllowDataLoss: true}))
		tx, err := db.BeginTx(t.Context(), nil)
		must(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), patience) // a transaction that waits for itself never ends
		defer cancel()
		if _, err := store.In(tx).Reserve(ctx, "a", 1); err == nil || !strings.Contains(err.Error(), "PrepareCounters") {
			t.Error(err)
		}
		must(t, tx.Rollback())
		must(t, store.PrepareCounters(t.Context()))
		if tx, err = db.BeginTx(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = tx.Rollback() }()
		if first, err := store.In(tx).Reserve(t.Context(), "a", 5); err != nil || first != 1 {
			t.Errorf("%d, %v", first, err)
		}
		if first, err := store.In(tx).Reserve(t.Context(), "a", 1); err != nil || first != 6 {
			t.Errorf("%d, %v", first, err)
		}
	})
}
