package graph

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/internal/retry"
)

// ownsTransaction reports whether the transaction is not the caller's, and so may be retried: only
// the caller can repeat its own writes.
func (g *graph) ownsTransaction() bool {
	_, nested := g.db.Statement.ConnPool.(gorm.TxCommitter)
	return !nested && !g.db.DryRun
}

// begin begins a transaction, or sets a savepoint in the caller's.
func (w *writer) begin() error {
	if !w.ownsTransaction() {
		return w.setSavepoint()
	}
	if w.tx = w.db.Begin(); w.tx.Error != nil {
		return fmt.Errorf("graph: BEGIN: %w", w.tx.Error)
	}
	inner, ok := w.tx.Statement.ConnPool.(gorm.TxCommitter)
	if !ok {
		return fmt.Errorf("graph: BEGIN: %T is no transaction: %w", w.tx.Statement.ConnPool, gorm.ErrInvalidTransaction)
	}
	w.conn, w.commit, w.rollback = wrapConn(w.tx, w.db), inner.Commit, inner.Rollback
	return nil
}

func (w *writer) setSavepoint() error {
	if w.tx, w.conn = w.db, new(conn); w.db.DryRun {
		return nil
	}
	w.tx = w.db.Session(&gorm.Session{Context: w.ctx})
	if w.conn = wrapConn(w.tx, w.db); w.db.DisableNestedTransaction {
		return nil
	}
	name := fmt.Sprintf("snowkey%016x", rand.Uint64())
	caller := func() *gorm.DB { // past conn, which may refuse statements
		return w.db.Session(&gorm.Session{NewDB: true, Context: context.WithoutCancel(w.ctx)})
	}
	if err := caller().SavePoint(name).Error; err != nil {
		return fmt.Errorf("graph: SAVEPOINT: %w", err)
	}
	w.rollback = func() error { return caller().RollbackTo(name).Error }
	return nil
}

// rollBack rolls back after err, and adds the rollback's error to it.
func (w *writer) rollBack(err error) error {
	if w.rollback == nil {
		return err
	}
	e := w.rollback()
	// Nothing is left to roll back: MySQL has done it, or the end of the context has.
	gone := w.conn.conflict() != nil && retry.MySQLNumber(e) == 1305 || errors.Is(e, sql.ErrTxDone)
	if e == nil || err == nil || gone {
		return err
	}
	return fmt.Errorf("%w; and the rollback: %w", err, e)
}

// conn is the connection of a transaction. It remembers the first conflict with another transaction,
// and refuses all later statements, also of hooks: MySQL has rolled back by then, and would commit
// them on their own; PostgreSQL answers them with an error that does not name the cause.
type conn struct {
	gorm.ConnPool
	gorm.TxCommitter
	handle *gorm.DB
	lost   atomic.Pointer[error]
}

// wrapConn wraps the connection of tx in a conn. handle is outside the transaction, or in the
// caller's.
func wrapConn(tx, handle *gorm.DB) *conn {
	c := &conn{ConnPool: tx.Statement.ConnPool, handle: handle}
	c.TxCommitter, _ = c.ConnPool.(gorm.TxCommitter)
	tx.Statement.ConnPool = c
	return c
}

// conflict returns the first conflict, or nil.
func (c *conn) conflict() error {
	if err := c.lost.Load(); err != nil {
		return *err
	}
	return nil
}

func (c *conn) remember(err error) {
	if err != nil && isConflict(err) {
		c.lost.CompareAndSwap(nil, &err)
	}
}

// guard sends a statement, unless there was a conflict.
func guard[T any](c *conn, statement func() (T, error)) (result T, err error) {
	if err := c.conflict(); err != nil {
		return result, err
	}
	result, err = statement()
	c.remember(err)
	return result, err
}

func (c *conn) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	pool := c.ConnPool
	if p, ok := pool.(*gorm.PreparedStmtTX); ok && (strings.HasPrefix(query, "SAVEPOINT ") || strings.HasPrefix(query, "ROLLBACK TO ")) {
		pool = p.Tx // they cannot be prepared, and gorm avoids that only for its own type
	}
	return guard(c, func() (sql.Result, error) { return pool.ExecContext(ctx, query, args...) })
}

func (c *conn) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return guard(c, func() (*sql.Rows, error) { return c.ConnPool.QueryContext(ctx, query, args...) })
}

func (c *conn) PrepareContext(ctx context.Context, query string) (*sql.Stmt, error) {
	return guard(c, func() (*sql.Stmt, error) { return c.ConnPool.PrepareContext(ctx, query) })
}

// QueryRowContext must return a row. After a conflict, its done context keeps it from the server.
func (c *conn) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	pool := c.ConnPool
	if c.conflict() != nil {
		done, cancel := context.WithCancel(ctx)
		cancel()
		ctx = done
		if p, ok := pool.(*gorm.PreparedStmtTX); ok {
			pool = p.Tx // gorm's own would return a row without an error
		}
	}
	row := pool.QueryRowContext(ctx, query, args...)
	c.remember(row.Err())
	return row
}

// GetDBConn returns the pool, for gorm's method DB.
func (c *conn) GetDBConn() (*sql.DB, error) { return c.handle.DB() }

// StmtContext returns a statement in the transaction, for sessions with PrepareStmt. After a
// conflict, it returns an empty one, which fails without reaching a server.
func (c *conn) StmtContext(ctx context.Context, stmt *sql.Stmt) *sql.Stmt {
	if c.conflict() != nil {
		stmt = new(sql.Stmt)
	}
	if tx, ok := c.ConnPool.(gorm.Tx); ok {
		return tx.StmtContext(ctx, stmt)
	}
	return stmt
}

// isConflict reports whether the database asks for the transaction to be run again. It is false
// for the timeout of a lock.
func isConflict(err error) bool {
	const aborted = "25P02" // by an earlier error, which a hook has hidden
	return retry.IsUndone(err) || retry.SQLState(err) == aborted
}

// isRefused reports whether the error of a COMMIT says that nothing was committed: the server
// refused it, or it was never sent.
func isRefused(err error) bool {
	if s := retry.SQLState(err); s != "" { // after a lost connection, 08 and 57P, the outcome is unknown
		return len(s) == 5 && s[:2] != "08" && s[:3] != "57P" && s != "40003"
	}
	return errors.Is(err, sql.ErrTxDone) || isConflict(err) || strings.Contains(err.Error(), "constraint failed") // SQLite's
}
