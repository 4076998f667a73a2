package graph

import (
	"context"
	"database/sql"
	"strings"
	"sync/atomic"

	"gorm.io/gorm"
)

// conn is the connection of a transaction. It remembers the first conflict with another
// transaction, and refuses all later statements with it, also those of hooks: MySQL has rolled
// back by then, so that they would be committed on their own, and PostgreSQL answers them with an
// error that does not tell the cause.
type conn struct {
	gorm.ConnPool
	gorm.TxCommitter
	handle *gorm.DB
	lost   atomic.Pointer[error]
}

// txConn is a conn for sessions with PrepareStmt.
type txConn struct{ *conn }

// wrap sets the connection of tx to a conn over it. handle is outside the transaction, or in the
// caller's.
func wrap(tx, handle *gorm.DB) *conn {
	c := &conn{ConnPool: tx.Statement.ConnPool, handle: handle}
	c.TxCommitter, _ = c.ConnPool.(gorm.TxCommitter)
	tx.Statement.ConnPool = c
	if _, ok := c.ConnPool.(gorm.Tx); ok {
		tx.Statement.ConnPool = txConn{c}
	}
	return c
}

// conflict returns the first conflict, or nil.
func (c *conn) conflict() error {
	if err := c.lost.Load(); err != nil {
		return *err
	}
	return nil
}

func (c *conn) note(err error) {
	if err != nil && isConflict(c.handle.Name(), err) {
		c.lost.CompareAndSwap(nil, &err)
	}
}

// send sends a statement, unless there was a conflict.
func send[T any](c *conn, statement func() (T, error)) (result T, err error) {
	if err := c.conflict(); err != nil {
		return result, err
	}
	result, err = statement()
	c.note(err)
	return result, err
}

func (c *conn) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	pool := c.ConnPool
	if p, ok := pool.(*gorm.PreparedStmtTX); ok && (strings.HasPrefix(query, "SAVEPOINT ") || strings.HasPrefix(query, "ROLLBACK TO ")) {
		pool = p.Tx // they cannot be prepared; gorm does so only if it sees its own type
	}
	return send(c, func() (sql.Result, error) { return pool.ExecContext(ctx, query, args...) })
}

func (c *conn) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return send(c, func() (*sql.Rows, error) { return c.ConnPool.QueryContext(ctx, query, args...) })
}

func (c *conn) PrepareContext(ctx context.Context, query string) (*sql.Stmt, error) {
	return send(c, func() (*sql.Stmt, error) { return c.ConnPool.PrepareContext(ctx, query) })
}

// QueryRowContext returns an error in the row. After a conflict, its context is done, so that it
// reaches no server.
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
	c.note(row.Err())
	return row
}

// GetDBConn returns the pool, for gorm's method DB.
func (c *conn) GetDBConn() (*sql.DB, error) { return c.handle.DB() }

// StmtContext returns the statement in the transaction. After a conflict, it is one of no
// database, which fails without reaching a server.
func (c txConn) StmtContext(ctx context.Context, stmt *sql.Stmt) *sql.Stmt {
	if c.conflict() != nil {
		stmt = new(sql.Stmt)
	}
	return c.ConnPool.(gorm.Tx).StmtContext(ctx, stmt)
}
