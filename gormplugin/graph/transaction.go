package graph

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"

	"gorm.io/gorm"
)

// commitState is how far a transaction's COMMIT is.
type commitState uint8

const (
	notSent commitState = iota
	sent
	unknown // sent, and the outcome is not known
)

// transaction ends a transaction. A nil function does nothing.
type transaction struct{ commit, rollback func() error }

// run writes the graph in a transaction. On an error, and on a panic, it rolls back, unless the
// outcome of COMMIT is unknown.
func (w *writer) run() (err error) {
	failed := true
	defer w.stop()
	batches, err := w.schedule()
	if err != nil {
		return err
	}
	tx, t, err := w.beginTransaction()
	if err != nil {
		return err
	}
	w.tx = tx
	defer func() {
		if failed && t.rollback != nil {
			if e := t.rollback(); e != nil && err != nil && !savepointLost(err, e) {
				err = fmt.Errorf("%w; and the rollback: %w", err, e)
			}
		}
	}()
	if err := w.writeAll(batches); err != nil {
		return err
	}
	if err := w.ctx.Err(); err != nil {
		return fmt.Errorf("graph: before COMMIT: %w", err)
	}
	if t.commit != nil {
		w.commit = sent
		if err := t.commit(); err != nil {
			if isRefused(w.db.Name(), err) {
				return fmt.Errorf("graph: COMMIT: %w", err)
			}
			w.commit, t.rollback = unknown, nil
			return fmt.Errorf("graph: %w: %w", ErrOutcomeUnknown, err)
		}
	}
	failed = false
	return nil
}

// beginTransaction begins a transaction, or sets a savepoint in the caller's.
func (w *writer) beginTransaction() (*gorm.DB, transaction, error) {
	if w.db.DryRun {
		return w.db, transaction{}, nil
	}
	if _, nested := w.db.Statement.ConnPool.(gorm.TxCommitter); nested {
		if w.db.DisableNestedTransaction {
			return w.db, transaction{}, nil
		}
		name := fmt.Sprintf("snowkey%016x", rand.Uint64())
		other := func() *gorm.DB {
			return w.db.Session(&gorm.Session{NewDB: true, Context: context.WithoutCancel(w.ctx)})
		}
		if err := other().SavePoint(name).Error; err != nil {
			return nil, transaction{}, fmt.Errorf("graph: SAVEPOINT: %w", err)
		}
		return w.db, transaction{rollback: func() error { return unlessDone(other().RollbackTo(name).Error) }}, nil
	}
	tx := w.db.Begin()
	if tx.Error != nil {
		return nil, transaction{}, fmt.Errorf("graph: BEGIN: %w", tx.Error)
	}
	pool, ok := tx.Statement.ConnPool.(gorm.TxCommitter)
	if !ok {
		return nil, transaction{}, fmt.Errorf("graph: BEGIN: %T is no transaction: %w", tx.Statement.ConnPool, gorm.ErrInvalidTransaction)
	}
	return tx, transaction{commit: pool.Commit, rollback: func() error { return unlessDone(pool.Rollback()) }}, nil
}

// unlessDone drops the error of a transaction that its context has rolled back already.
func unlessDone(err error) error {
	if errors.Is(err, sql.ErrTxDone) {
		return nil
	}
	return err
}
