package gormplugin

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"

	"gorm.io/gorm"
)

// run writes in a transaction. On an error, and on a panic, nothing stays; but if unknown is
// set then, COMMIT was sent and its outcome is not known.
func (w *writer) run() (err error) {
	failed := true
	defer w.stop()
	batches, err := w.schedule()
	if err != nil {
		return err
	}
	tx, end, err := w.begin()
	if err != nil {
		return err
	}
	w.tx = tx
	defer func() {
		if failed && end.rollback != nil {
			if e := end.rollback(); e != nil && err != nil && !undone(err, e) {
				err = fmt.Errorf("%w; and the rollback: %w", err, e)
			}
		}
	}()
	if err := w.writeAll(batches); err != nil {
		return err
	}
	if err := w.ctx.Err(); err != nil {
		return fmt.Errorf("gormplugin: before COMMIT: %w", err)
	}
	if end.commit != nil {
		w.sent = true
		if err := end.commit(); err != nil {
			if isRefused(w.db.Name(), err) {
				return fmt.Errorf("gormplugin: COMMIT: %w", err)
			}
			w.unknown, end.rollback = true, nil
			return fmt.Errorf("gormplugin: %w: %w", ErrOutcomeUnknown, err)
		}
	}
	failed = false
	return nil
}

// ending is how a transaction ends. A nil function does nothing.
type ending struct{ commit, rollback func() error }

func (w *writer) begin() (*gorm.DB, ending, error) {
	if w.db.DryRun {
		return w.db, ending{}, nil
	}
	if _, nested := w.db.Statement.ConnPool.(gorm.TxCommitter); nested {
		if w.db.DisableNestedTransaction {
			return w.db, ending{}, nil
		}
		name := fmt.Sprintf("snowkey%016x", rand.Uint64())
		side := func() *gorm.DB {
			return w.db.Session(&gorm.Session{NewDB: true, Context: context.WithoutCancel(w.ctx)})
		}
		if err := side().SavePoint(name).Error; err != nil {
			return nil, ending{}, fmt.Errorf("gormplugin: SAVEPOINT: %w", err)
		}
		return w.db, ending{rollback: func() error { return unlessDone(side().RollbackTo(name).Error) }}, nil
	}
	tx := w.db.Begin()
	if tx.Error != nil {
		return nil, ending{}, fmt.Errorf("gormplugin: BEGIN: %w", tx.Error)
	}
	pool, ok := tx.Statement.ConnPool.(gorm.TxCommitter)
	if !ok {
		return nil, ending{}, fmt.Errorf("gormplugin: BEGIN: %T is no transaction: %w", tx.Statement.ConnPool, gorm.ErrInvalidTransaction)
	}
	return tx, ending{commit: pool.Commit, rollback: func() error { return unlessDone(pool.Rollback()) }}, nil
}

// unlessDone drops the error of a transaction that its context has rolled back already.
func unlessDone(err error) error {
	if errors.Is(err, sql.ErrTxDone) {
		return nil
	}
	return err
}

// undone reports whether a savepoint is gone because the server has rolled back the whole
// transaction: MySQL after a deadlock, MariaDB also after another has changed a row since
// the first look.
func undone(err, rollback error) bool {
	return isMySQL(rollback, 1305) && isMySQL(err, 1213, 1020)
}

// isRefused reports whether the error of a COMMIT says that nothing was
// committed: the server refused it, or it was never sent.
func isRefused(dialect string, err error) bool {
	if errors.Is(err, sql.ErrTxDone) {
		return true
	}
	if s := sqlState(err); s != "" {
		// A connection that ends in the middle of it says nothing: 08 and 57P.
		return len(s) == 5 && s[:2] != "08" && s[:3] != "57P" && s != "40003"
	}
	const constraint = 19
	return lostToAnother(dialect, err) || dialect == "sqlite" && sqliteCode(err) == constraint
}
