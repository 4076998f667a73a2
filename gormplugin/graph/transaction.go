package graph

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/internal/retry"
)

// begin begins a transaction, or sets a savepoint in the caller's. Its statements are sent over conn.
func (w *writer) begin(batches []*batch) error {
	outer := w.db.Session(&gorm.Session{Context: w.ctx})
	w.tx = outer
	if w.ownTx {
		if err := w.route(outer, batches); err != nil {
			return err
		}
		if w.tx = outer.Begin(); w.tx.Error != nil {
			return fmt.Errorf("graph: BEGIN: %w", w.tx.Error)
		}
	}
	inner, isTx := w.tx.Statement.ConnPool.(gorm.TxCommitter)
	if w.ownTx && !isTx {
		return fmt.Errorf("graph: BEGIN: %T is no transaction: %w", w.tx.Statement.ConnPool, gorm.ErrInvalidTransaction)
	}
	pool, _ := outer.DB()
	w.conn = &conn{ConnPool: w.tx.Statement.ConnPool, TxCommitter: inner, pool: pool}
	w.tx.Statement.ConnPool = w.conn
	if !w.ownTx {
		return w.setSavepoint()
	}
	w.commit, w.rollback = inner.Commit, inner.Rollback
	return nil
}

// route sets the pool of a handle to that to which gorm's Create would write the rows. Plugin
// dbresolver chooses the pool by the table, and one of several at random.
func (w *writer) route(handle *gorm.DB, batches []*batch) error {
	choose, first := w.db.Callback().Create().Get("gorm:db_resolver"), ""
	for i := 0; choose != nil && i < len(batches); i++ {
		s := batches[i].model.schema
		for try := 0; ; try++ {
			tx := w.db.Session(&gorm.Session{Context: w.ctx})
			tx.Statement.Schema, tx.Statement.Model = s, nil
			if batches[i].mode != ofHandle || tx.Statement.Table == "" {
				tx.Statement.Table = s.Table
			}
			if choose(tx); first == "" {
				first, handle.Statement.ConnPool = tx.Statement.Table, tx.Statement.ConnPool
			}
			if unprepared(tx.Statement.ConnPool) == unprepared(handle.Statement.ConnPool) {
				break
			}
			if try == 1000 { // far more than a table has pools
				return fmt.Errorf("graph: dbresolver routes the tables %s and %s to different databases, "+
					"and one transaction cannot write to both: route all tables of the graph to one", first, s.Table)
			}
		}
	}
	return nil
}

// setSavepoint sets a savepoint, unless the handle sends or nests nothing.
func (w *writer) setSavepoint() error {
	w.commit = func() error { return nil }
	w.rollback = w.commit
	if w.db.DryRun || w.db.DisableNestedTransaction {
		return nil
	}
	name := fmt.Sprintf("snowkey%016x", rand.Uint64())
	caller := func() *gorm.DB { // past conn, which may refuse statements
		tx := w.db.Session(&gorm.Session{NewDB: true, Context: context.WithoutCancel(w.ctx)})
		tx.Statement.ConnPool = unprepared(tx.Statement.ConnPool)
		return tx
	}
	if err := caller().SavePoint(name).Error; err != nil {
		return fmt.Errorf("graph: SAVEPOINT: %w", err)
	}
	if slices.Contains([]string{"postgres", "mysql", "sqlite"}, w.db.Name()) { // else PostgreSQL runs out of locks
		w.commit = func() error { return caller().Exec("RELEASE SAVEPOINT " + name).Error }
	}
	w.rollback = func() error {
		if err := caller().RollbackTo(name).Error; err != nil {
			return err
		}
		return w.commit()
	}
	return nil
}

// unprepared returns the pool or transaction that prepares no statements: savepoints cannot be
// prepared.
func unprepared(pool gorm.ConnPool) gorm.ConnPool {
	switch p := pool.(type) {
	case *gorm.PreparedStmtTX:
		return p.Tx
	case *gorm.PreparedStmtDB:
		return p.ConnPool
	}
	return pool
}

// rollBack rolls back after err, and adds the rollback's error to it.
func (w *writer) rollBack(err error) error {
	e := w.rollback()
	// Nothing may be left to roll back: MySQL has done it, or the end of the context has.
	gone := w.conn.conflict() != nil && retry.MySQLNumber(e) == 1305 || errors.Is(e, sql.ErrTxDone)
	if e != nil && err != nil && !gone {
		err = fmt.Errorf("%w; and the rollback: %w", err, e)
	}
	return err
}

// conn is the connection of a transaction. It remembers the first conflict with another transaction,
// and refuses all later statements, also of hooks: MySQL has rolled back by then, and would commit
// them on their own; PostgreSQL answers them with an error that does not name the cause.
type conn struct {
	gorm.ConnPool
	gorm.TxCommitter
	pool *sql.DB
	lost atomic.Pointer[error]
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
	if verb, _, _ := strings.Cut(query, " "); slices.Contains([]string{"SAVEPOINT", "ROLLBACK", "RELEASE"}, verb) {
		pool = unprepared(pool)
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
		ctx, pool = done, unprepared(pool) // a prepared one would return a row without an error
	}
	row := pool.QueryRowContext(ctx, query, args...)
	c.remember(row.Err())
	return row
}

// GetDBConn returns the pool, for gorm's method DB.
func (c *conn) GetDBConn() (*sql.DB, error) { return c.pool, nil }

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
