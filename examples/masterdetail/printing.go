package main

import (
	"context"
	"database/sql"
	"fmt"
	"io"

	"gorm.io/gorm"
)

// printing is a pool that prints what gorm sends through it, transactions too.
type printing struct {
	gorm.ConnPool
	begin func(context.Context, *sql.TxOptions) (*sql.Tx, error)
	out   io.Writer
}

func (p *printing) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	fmt.Fprintln(p.out, " ", query)
	return p.ConnPool.ExecContext(ctx, query, args...)
}

func (p *printing) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	fmt.Fprintln(p.out, " ", query)
	return p.ConnPool.QueryContext(ctx, query, args...)
}

func (p *printing) BeginTx(ctx context.Context, opts *sql.TxOptions) (gorm.ConnPool, error) {
	fmt.Fprintln(p.out, "  BEGIN")
	tx, err := p.begin(ctx, opts)
	if err != nil {
		return nil, err
	}
	return &printingTx{printing{ConnPool: tx, out: p.out}, tx}, nil
}

// GetDBConn is how gorm finds the pool behind it.
func (p *printing) GetDBConn() (*sql.DB, error) {
	pool, ok := p.ConnPool.(*sql.DB)
	if !ok {
		return nil, gorm.ErrInvalidDB
	}
	return pool, nil
}

type printingTx struct {
	printing
	tx *sql.Tx
}

func (p *printingTx) BeginTx(context.Context, *sql.TxOptions) (gorm.ConnPool, error) {
	return nil, gorm.ErrInvalidTransaction // it is one
}

func (p *printingTx) Commit() error {
	fmt.Fprintln(p.out, "  COMMIT")
	return p.tx.Commit()
}

func (p *printingTx) Rollback() error {
	fmt.Fprintln(p.out, "  ROLLBACK")
	return p.tx.Rollback()
}
