package pgxtype_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/pgxtype"
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
		load := func(tx pgx.Tx) error {
			_, err := pgxtype.Load(t.Context(), tx, pgxtype.Seq(slices.Values(orders)), shopConfig(method))
			return err
		}
		for where, f := range map[string]func(tx pgx.Tx, run int) error{
			"before the first row": func(tx pgx.Tx, run int) error {
				if run == 1 {
					s.kill(t, tx)
				}
				return load(tx)
			},
			"after the last row": func(tx pgx.Tx, run int) error {
				if err := load(tx); err != nil {
					return err
				}
				if run == 1 {
					s.kill(t, tx)
				}
				_, err := tx.Exec(t.Context(), `select 1`)
				return err
			},
			"in a savepoint": func(tx pgx.Tx, run int) error {
				return pgx.BeginFunc(t.Context(), tx, func(tx pgx.Tx) error {
					if err := load(tx); err != nil {
						return err
					}
					if run == 1 {
						s.kill(t, tx)
					}
					return nil
				})
			},
			"closed by f": func(tx pgx.Tx, run int) error {
				if err := load(tx); err != nil || run > 1 {
					return err
				}
				return tx.Conn().Close(t.Context())
			},
		} {
			t.Run(where, func(t *testing.T) {
				runs := 0
				err := pgxtype.Retry(t.Context(), s.pool, pgxtype.RetryConfig{}, func(tx pgx.Tx) error { runs++; return f(tx, runs) })
				if n := s.ask(t, `select count(*) from lines`); err != nil || runs != 2 || n != 9 {
					t.Errorf("%s, %s: %d lines after %d runs, %v", name, where, n, runs, err)
				}
				if _, err := s.pool.Exec(t.Context(), `truncate orders, lines`); err != nil {
					t.Fatal(err)
				}
			})
		}
	}

	// Any other error ends Retry at once.
	mine := errors.New("mine")
	for what, f := range map[string]func(tx pgx.Tx) error{
		"f's own end of a file": func(pgx.Tx) error { return fmt.Errorf("read my file: %w", io.ErrUnexpectedEOF) },
		"f's own error":         func(tx pgx.Tx) error { s.kill(t, tx); return mine },
		"f's own deadline": func(tx pgx.Tx) error {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
			defer cancel()
			_, err := tx.Exec(ctx, `select pg_sleep(60)`)
			return err
		},
	} {
		t.Run(what, func(t *testing.T) {
			runs := 0
			if err := pgxtype.Retry(t.Context(), s.pool, pgxtype.RetryConfig{}, func(tx pgx.Tx) error { runs++; return f(tx) }); err == nil || runs != 1 {
				t.Errorf("%s: %d runs, %v", what, runs, err)
			}
		})
	}

	// A single connection cannot be replaced.
	conn, err := pgx.Connect(t.Context(), testserver.Postgres(t).DSN)
	if err != nil {
		t.Fatal(err)
	}
	pooled, err := s.pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer pooled.Release()
	for _, db := range []pgxtype.TxBeginner{conn, pooled} {
		runs := 0
		err = pgxtype.Retry(t.Context(), db, pgxtype.RetryConfig{}, func(tx pgx.Tx) error {
			runs++
			s.kill(t, tx)
			_, err := tx.Exec(t.Context(), `select 1`)
			return err
		})
		if err == nil || runs != 1 || !strings.Contains(err.Error(), "attempt 1 of 5") {
			t.Errorf("%T: %d runs, %v", db, runs, err)
		}
	}
	// A failed login is not retried.
	config := s.pool.Config().ConnConfig
	config.Database = "there_is_none"
	begins := 0
	err = pgxtype.Retry(t.Context(), beginner(func() (pgx.Tx, error) {
		begins++
		_, err := pgx.ConnectConfig(t.Context(), config)
		return nil, err
	}), pgxtype.RetryConfig{}, func(pgx.Tx) error { return nil })
	if err == nil || begins != 1 || !strings.Contains(err.Error(), "there_is_none") {
		t.Errorf("%d connections, %v", begins, err)
	}
	config.Database, config.Port = "postgres", 1
	if err := pgxtype.Retry(t.Context(), beginner(func() (pgx.Tx, error) {
		begins++
		_, err := pgx.ConnectConfig(t.Context(), config)
		return nil, err
	}), pgxtype.RetryConfig{}, func(pgx.Tx) error { return nil }); err == nil || begins != 6 {
		t.Errorf("%d connections, %v", begins, err)
	}
}

type beginner func() (pgx.Tx, error)

func (b beginner) BeginTx(context.Context, pgx.TxOptions) (pgx.Tx, error) { return b() }

// If Committed returns false too early, Retry asks again before it gives up.
func TestRetryAsksAgain(t *testing.T) {
	conflict := &pgconn.PgError{Severity: "ERROR", Code: "40001"}
	other := errors.New("other")
	synctest.Test(t, func(t *testing.T) {
		for _, tt := range []struct {
			name    string
			commits []error
			fails   int // the run in which f fails
			answers []bool
			done    bool
			unknown bool
		}{
			{"the last attempt's no is early", []error{io.EOF, io.EOF}, 0, []bool{false, false, true}, true, false},
			{"the last attempt's no stays", []error{io.EOF, io.EOF}, 0, []bool{false, false, false}, false, true},
			{"an error of f, and the no was early", []error{io.EOF}, 2, []bool{false, true}, true, false},
			{"an error of f, and the no stays", []error{io.EOF}, 2, []bool{false, false}, false, true},
			{"a conflict, and the no was early", []error{io.EOF, conflict}, 0, []bool{false, true}, true, false},
			{"a conflict, and the no is final, as f has waited", []error{io.EOF, conflict}, 0, []bool{false, false}, false, false},
			{"a conflict alone", []error{conflict, conflict}, 0, nil, false, false},
		} {
			s := &script{commits: tt.commits}
			asked, runs := 0, 0
			var at []time.Time
			err := pgxtype.Retry(t.Context(), s, pgxtype.RetryConfig{Attempts: 2, Backoff: time.Minute, MaxBackoff: time.Minute, Committed: func(ctx context.Context) (bool, error) {
				deadline, _ := ctx.Deadline()
				if left := time.Until(deadline); left != 10*time.Second {
					t.Errorf("%s: %v left", tt.name, left)
				}
				at = append(at, time.Now())
				asked++
				return tt.answers[asked-1], nil
			}}, func(pgx.Tx) error {
				if runs++; runs == tt.fails {
					return other
				}
				return nil
			})
			if (err == nil) != tt.done || errors.Is(err, pgxtype.ErrOutcomeUnknown) != tt.unknown || asked != len(tt.answers) || runs != 2 {
				t.Errorf("%s: asked %d times in %d runs, %v", tt.name, asked, runs, err)
			}
			if tt.fails == 0 && asked == 3 && at[2].Sub(at[1]) != time.Second {
				t.Errorf("%s: asked again after %v", tt.name, at[2].Sub(at[1]))
			}
		}
		// It does so also if the context is done, and returns the error of Committed.
		ctx, cancel := context.WithCancel(t.Context())
		s := &script{commits: []error{context.Canceled}, commit: cancel}
		asked := 0
		ask := func(context.Context) (bool, error) { asked++; return asked == 2, nil }
		if err := pgxtype.Retry(ctx, s, pgxtype.RetryConfig{Committed: ask}, func(pgx.Tx) error { return nil }); err != nil || asked != 2 || s.begun != 1 {
			t.Errorf("cancelled: asked %d times, %v", asked, err)
		}
		s = &script{commits: []error{io.EOF}}
		asked = 0
		err := pgxtype.Retry(t.Context(), s, pgxtype.RetryConfig{Attempts: 1, Committed: func(context.Context) (bool, error) {
			if asked++; asked == 2 {
				return false, other
			}
			return false, nil
		}}, func(pgx.Tx) error { return nil })
		if !errors.Is(err, other) || !errors.Is(err, pgxtype.ErrOutcomeUnknown) || asked != 2 {
			t.Errorf("no answer: asked %d times, %v", asked, err)
		}
	})
}

// RetryIf is called only for errors that Retry would not retry itself.
func TestRetryIf(t *testing.T) {
	conflict := &pgconn.PgError{Severity: "ERROR", Code: "40001"}
	mine, other := errors.New("mine"), errors.New("other")
	synctest.Test(t, func(t *testing.T) {
		var told []error
		cfg := pgxtype.RetryConfig{RetryIf: func(err error) bool { told = append(told, err); return errors.Is(err, mine) }}
		for _, tt := range []struct {
			name    string
			f       []error
			commits []error
			told    int
			begun   int
			want    error
		}{
			{"accepted", []error{mine, mine}, nil, 2, 3, nil},
			{"not accepted", []error{mine, other}, nil, 2, 2, other},
			{"anyway", []error{conflict, mine}, nil, 1, 3, nil},
			{"at COMMIT", nil, []error{fmt.Errorf("%w: %w", mine, &pgconn.PgError{Severity: "ERROR", Code: "23503"})}, 1, 2, nil},
			{"unknown", nil, []error{io.EOF}, 0, 1, pgxtype.ErrOutcomeUnknown},
			{"the last", []error{mine, mine, mine, mine, mine}, nil, 5, 5, mine},
		} {
			told = nil
			s := &script{commits: tt.commits}
			n := 0
			err := pgxtype.Retry(t.Context(), s, cfg, func(pgx.Tx) error {
				if n++; n <= len(tt.f) {
					return tt.f[n-1]
				}
				return nil
			})
			if len(told) != tt.told || s.begun != tt.begun || !errors.Is(err, tt.want) || tt.want == nil && err != nil {
				t.Errorf("%s: asked %d times, %d attempts, %v", tt.name, len(told), s.begun, err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		told = nil
		if err := pgxtype.Retry(ctx, &script{}, cfg, func(pgx.Tx) error { cancel(); return mine }); !errors.Is(err, mine) || len(told) != 0 {
			t.Errorf("asked %d times once ctx was done, %v", len(told), err)
		}
	})
}
