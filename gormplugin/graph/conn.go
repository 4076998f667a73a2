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
// back by then, so that they would be committed on their own, and PostgreSQL answers them with an error that
// does not tell the cause.
type conn struct {
	gorm.ConnPool
	gorm.TxCommitter
	handle  *gorm.DB
	dialect string
	lost    atomic.Pointer[error]
}

// txConn is a conn for sessions with PrepareStmt.
type txConn struct{ *conn }

// wrap sets the connection of tx to a conn over it. handle is outside the transaction, or in the
// caller's.
func wrap(tx, handle *gorm.DB) *conn {
	c := &conn{ConnPool: tx.Statement.ConnPool, handle: handle, dialect: tx.Name()}
	c.TxCommitter, _ = c.ConnPool.(gorm.TxCommitter)
	tx.Statement.ConnPool = c
	if _, ok := c.ConnPool.(gorm.Tx); ok {
		tx.Statement.ConnPool = txConn{c}
	}
	return c
}

// refusal returns the conflict that was met, or nil.
func (c *conn) refusal() error {
	if err := c.lost.Load(); err != nil {
		return *err
	}
	return nil
}

// note remembers err if it is the first conflict.
func (c *conn) note(err error) {
	if err != nil && isConflict(c.dialect, err) {
		c.lost.CompareAndSwap(nil, &err)
	}
}

// poolFor returns where to send a statement. Savepoints cannot be prepared; gorm knows that of its
// own type only.
func (c *conn) poolFor(query string) gorm.ConnPool {
	if p, ok := c.ConnPool.(*gorm.PreparedStmtTX); ok && (strings.HasPrefix(query, "SAVEPOINT ") || strings.HasPrefix(query, "ROLLBACK TO ")) {
		return p.Tx
	}
	return c.ConnPool
}

func (c *conn) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if err := c.refusal(); err != nil {
		return nil, err
	}
	result, err := c.poolFor(query).ExecContext(ctx, query, args...)
	c.note(err)
	return result, err
}

func (c *conn) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if err := c.refusal(); err != nil {
		return nil, err
	}
	rows, err := c.ConnPool.QueryContext(ctx, query, args...)
	c.note(err)
	return rows, err
}

func (c *conn) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	pool := c.ConnPool
	if c.refusal() != nil {
		if p, ok := pool.(*gorm.PreparedStmtTX); ok {
			pool = p.Tx // which returns an error, and not a Row without one
		}
		done, cancel := context.WithCancel(ctx) // so that it reaches no server
		cancel()
		return pool.QueryRowContext(done, query, args...)
	}
	row := pool.QueryRowContext(ctx, query, args...)
	c.note(row.Err())
	return row
}

func (c *conn) PrepareContext(ctx context.Context, query string) (*sql.Stmt, error) {
	if err := c.refusal(); err != nil {
		return nil, err
	}
	stmt, err := c.ConnPool.PrepareContext(ctx, query)
	c.note(err)
	return stmt, err
}

// GetDBConn returns the pool, for gorm's method DB.
func (c *conn) GetDBConn() (*sql.DB, error) { return c.handle.DB() }

// StmtContext returns the statement in the transaction. After a conflict, it is one of no
// database, which fails without reaching a server.
func (c txConn) StmtContext(ctx context.Context, stmt *sql.Stmt) *sql.Stmt {
	if c.refusal() != nil {
		stmt = new(sql.Stmt)
	}
	return c.ConnPool.(gorm.Tx).StmtContext(ctx, stmt)
}
