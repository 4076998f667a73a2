package pgxload_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/pgxtype/pgxload"
)

// kill ends the server's side of a transaction's connection.
func (s *shop) kill(t testing.TB, tx pgx.Tx) {
	t.Helper()
	pid := tx.Conn().PgConn().PID()
	s.ask(t, `select count(*) filter (where pg_terminate_backend($1::int)) from (select) one`, pid)
	until(t, "the session is gone", func() bool { return s.ask(t, `select count(*) from pg_stat_activity where pid = $1::int`, pid) == 0 })
}

// If the connection is lost before COMMIT was sent, Retry runs the transaction again on
// another connection, and its rows are written once.
func TestRetryLostConnection(t *testing.T) {
	s := newShop(t, pgx.QueryExecModeCacheStatement, true, shopTables)
	orders := makeOrders(3, 3)
	for name, method := range methods {
		for how, lose := range map[string]func(tx pgx.Tx){
			"killed": func(tx pgx.Tx) { s.kill(t, tx) },
			"closed": func(tx pgx.Tx) { _ = tx.Conn().Close(t.Context()) },
		} {
			for _, where := range []string{"before the first row", "between rows", "in a savepoint", "after the last row"} {
				if how == "closed" && where == "between rows" {
					continue // f must not use the connection then
				}
				runs, err := retry(t.Context(), s.pool, pgxload.RetryConfig{}, func(tx pgx.Tx, run int) error {
					passes := func(place string) {
						if place == where && run == 1 {
							lose(tx)
						}
					}
					passes("before the first row")
					if err := pgx.BeginFunc(t.Context(), tx, func(tx pgx.Tx) error {
						defer passes("in a savepoint")
						_, err := pgxload.LoadWith(t.Context(), tx, pgxload.Config{Method: method, ChunkBytes: 1}, func(w *pgxload.Writer) error {
							err := writeOrders(orders[:1])(w)
							passes("between rows")
							return errors.Join(err, writeOrders(orders[1:])(w))
						})
						return err
					}); err != nil {
						return err
					}
					passes("after the last row")
					_, err := tx.Exec(t.Context(), `select 1`)
					return err
				})
				if n := s.ask(t, `select count(*) from lines`); err != nil || runs != 2 || n != 9 {
					t.Errorf("%s, %s %s: %d lines after %d runs, %v", name, how, where, n, runs, err)
				}
				s.exec(t, `truncate orders, lines`)
			}
		}
	}
	// Any other error ends Retry at once, and a single connection cannot be replaced.
	conn, err := pgx.Connect(t.Context(), testserver.Postgres(t).DSN)
	must(t, err)
	pooled, err := s.pool.Acquire(t.Context())
	must(t, err)
	defer pooled.Release()
	sleep := func(ctx context.Context, tx pgx.Tx) error { _, err := tx.Exec(ctx, `select pg_sleep(60)`); return err }
	for what, tt := range map[string]struct {
		db pgxload.TxBeginner
		f  func(tx pgx.Tx) error
	}{
		"f's own end of a file": {s.pool, func(pgx.Tx) error { return fmt.Errorf("read my file: %w", io.ErrUnexpectedEOF) }},
		"f's own error":         {s.pool, func(tx pgx.Tx) error { s.kill(t, tx); return errOther }},
		"f's own deadline": {s.pool, func(tx pgx.Tx) error {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
			defer cancel()
			return sleep(ctx, tx)
		}},
		"a connection":           {conn, func(tx pgx.Tx) error { s.kill(t, tx); return sleep(t.Context(), tx) }},
		"a connection of a pool": {pooled, func(tx pgx.Tx) error { s.kill(t, tx); return sleep(t.Context(), tx) }},
	} {
		t.Run(what, func(t *testing.T) {
			runs, err := retry(t.Context(), tt.db, pgxload.RetryConfig{}, func(tx pgx.Tx, _ int) error { return tt.f(tx) })
			if err == nil || runs != 1 || !strings.Contains(err.Error(), "attempt 1 of 5") {
				t.Errorf("%d runs, %v", runs, err)
			}
		})
	}
}

// beginner connects for each transaction.
type beginner func(ctx context.Context) error

func (b beginner) BeginTx(ctx context.Context, _ pgx.TxOptions) (pgx.Tx, error) { return nil, b(ctx) }

// A failed login is not retried. A server that does not answer is.
func TestRetryConnect(t *testing.T) {
	config, err := pgx.ParseConfig(testserver.Postgres(t).DSN)
	must(t, err)
	begun := 0
	db := beginner(func(ctx context.Context) error { begun++; _, err := pgx.ConnectConfig(ctx, config); return err })
	config.Database = "there_is_none"
	if err := pgxload.Retry(t.Context(), db, fine); err == nil || begun != 1 || !strings.Contains(err.Error(), "there_is_none") {
		t.Errorf("%d connections, %v", begun, err)
	}
	config.Port = 1
	if err := pgxload.Retry(t.Context(), db, fine); err == nil || begun != 6 {
		t.Errorf("%d connections, %v", begun, err)
	}
}
