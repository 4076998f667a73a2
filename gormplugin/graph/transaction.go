package graph

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"

	"gorm.io/gorm"
)

// transaction is the graph's own transaction, or a savepoint in the caller's. A nil function does
// nothing.
type transaction struct {
	db               *gorm.DB // its statements are sent over conn
	conn             *conn    // nil for a dry run
	commit, rollback func() error
}

// ownsTransaction reports whether the transaction is not the caller's. What the caller wrote in
// it before a conflict is lost as well, and only the caller can write it again.
func (g *graph) ownsTransaction() bool {
	_, nested := g.db.Statement.ConnPool.(gorm.TxCommitter)
	return !nested && !g.db.DryRun
}

// begin begins a transaction, or sets a savepoint in the caller's.
func (g *graph) begin() (*transaction, error) {
	if g.db.DryRun {
		return &transaction{db: g.db}, nil
	}
	if !g.ownsTransaction() {
		return g.setSavepoint()
	}
	tx := g.db.Begin()
	if tx.Error != nil {
		return nil, fmt.Errorf("graph: BEGIN: %w", tx.Error)
	}
	inner, ok := tx.Statement.ConnPool.(gorm.TxCommitter)
	if !ok {
		return nil, fmt.Errorf("graph: BEGIN: %T is no transaction: %w", tx.Statement.ConnPool, gorm.ErrInvalidTransaction)
	}
	t := &transaction{db: tx, commit: inner.Commit, rollback: inner.Rollback}
	t.conn = wrap(tx, g.db)
	return t, nil
}

func (g *graph) setSavepoint() (*transaction, error) {
	t := &transaction{db: g.db.Session(&gorm.Session{Context: g.ctx})}
	t.conn = wrap(t.db, g.db)
	if g.db.DisableNestedTransaction {
		return t, nil
	}
	name := fmt.Sprintf("snowkey%016x", rand.Uint64())
	caller := func() *gorm.DB { // past conn, which may refuse statements
		return g.db.Session(&gorm.Session{NewDB: true, Context: context.WithoutCancel(g.ctx)})
	}
	if err := caller().SavePoint(name).Error; err != nil {
		return nil, fmt.Errorf("graph: SAVEPOINT: %w", err)
	}
	t.rollback = func() error { return caller().RollbackTo(name).Error }
	return t, nil
}

// conflict returns the first conflict with another transaction, or nil.
func (t *transaction) conflict() error {
	if t.conn == nil {
		return nil
	}
	return t.conn.refusal()
}

// undo rolls back after err, and adds to it what that reports.
func (t *transaction) undo(err error) error {
	if t.rollback == nil {
		return err
	}
	// The context may have ended the transaction already, and the server too.
	if e := t.rollback(); e != nil && err != nil && !errors.Is(e, sql.ErrTxDone) && !savepointLost(err, e) {
		return fmt.Errorf("%w; and the rollback: %w", err, e)
	}
	return err
}
