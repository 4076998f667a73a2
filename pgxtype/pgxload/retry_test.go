package pgxload_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/seed-299c1d6b/snowkey/pgxtype/pgxload"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

var (
	conflict = &pgconn.PgError{Severity: "ERROR", Code: "40001"}
	errOther = errors.New("other")
	refused  = &pgconn.PgError{Severity: "ERROR", Code: "23505"}
	fine     = func(pgx.Tx) error { return nil }
)

// retry runs a transaction, and counts its attempts.
func retry(ctx context.Context, db pgxload.TxBeginner, cfg pgxload.RetryConfig, f func(tx pgx.Tx, run int) error) (runs int, err error) {
	err = pgxload.RetryWith(ctx, db, cfg, func(tx pgx.Tx) error { runs++; return f(tx, runs) })
	return runs, err
}

// Serializable transactions read what the others write, decide what to load, and load other rows in
// each attempt, with the time. All happen as if one after another.
func TestRetrySerialization(t *testing.T) {
	const workers, each = 4, 30
	for name, method := range methods {
		s := newShop(t, pgx.QueryExecModeCacheStatement, true, `create table places (id bigint primary key, place int not null, made timestamptz not null)`)
		var attempts, key atomic.Int64
		var met, wg sync.WaitGroup
		met.Add(workers)
		for range workers {
			wg.Go(func() {
				meet := sync.OnceFunc(func() { met.Done(); met.Wait() })
				defer meet() // the others wait for it
				for range each {
					first := ID(key.Add(3))
					runs, err := retry(t.Context(), s.pool, pgxload.RetryConfig{Attempts: 100, Tx: pgx.TxOptions{IsoLevel: pgx.Serializable}}, func(tx pgx.Tx, _ int) error {
						var n int
						if err := tx.QueryRow(t.Context(), `select count(*) from places`).Scan(&n); err != nil {
							return err
						}
						meet() // all have read before one writes: at first all but one must fail
						_, err := pgxload.LoadWith(t.Context(), tx, pgxload.Config{Method: method}, func(w *pgxload.Writer) error {
							places := w.Table("places", "id", "place", "made")
							for i := range 1 + n%3 {
								places.Row(first+ID(i), n+i, time.Now())
							}
							return nil
						})
						return err
					})
					if err != nil {
						t.Error(err)
					}
					attempts.Add(int64(runs))
				}
			})
		}
		wg.Wait()
		// Each place once, and as many as 120 transactions fill, one after another.
		want := 0
		for range workers * each {
			want += 1 + want%3
		}
		if n := s.ask(t, `select case when count(*) = count(distinct place) and count(*) = max(place) + 1 then count(*) else -1 end from places`); n != int64(want) || attempts.Load() < workers*(each+1)-1 {
			t.Errorf("%s: %d places, want %d, after %d attempts", name, n, want, attempts.Load())
		}
		t.Logf("%s: %d attempts for %d transactions", name, attempts.Load(), workers*each)
	}
}

// script is a database whose transactions end as written.
type script struct {
	commits []error
	begun   int
	ended   string
	at      []time.Time
	commit  func() // called within COMMIT
}

type scriptTx struct {
	pgx.Tx
	s   *script
	err error
}

func (s *script) BeginTx(context.Context, pgx.TxOptions) (pgx.Tx, error) {
	tx := &scriptTx{s: s}
	if s.begun < len(s.commits) {
		tx.err = s.commits[s.begun]
	}
	s.begun++
	s.at = append(s.at, time.Now())
	return tx, nil
}

func (tx *scriptTx) Conn() *pgx.Conn { return nil }

func (tx *scriptTx) Commit(context.Context) error {
	tx.s.ended += "commit "
	if tx.s.commit != nil {
		tx.s.commit()
	}
	return tx.err
}

func (tx *scriptTx) Rollback(context.Context) error { tx.s.ended += "rollback "; return nil }

// pause is the time between two attempts.
func (s *script) pause(n int) time.Duration { return s.at[n+1].Sub(s.at[n]) }

func TestRetryPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{commits: slices.Repeat([]error{conflict}, 9)}
		err := pgxload.RetryWith(t.Context(), s, pgxload.RetryConfig{Attempts: 8, Backoff: 8 * time.Millisecond, MaxBackoff: 50 * time.Millisecond}, fine)
		if !errors.Is(err, conflict) || s.begun != 8 || !strings.Contains(err.Error(), "attempt 8 of 8") {
			t.Errorf("%d attempts, %v", s.begun, err)
		}
		for i, ms := range []int{8, 16, 32, 50, 50, 50, 50} {
			most := time.Duration(ms) * time.Millisecond
			if d := s.pause(i); d > most || d < most/2 {
				t.Errorf("pause %d: %v, want %v to %v", i, d, most/2, most)
			}
		}
		s = &script{commits: slices.Repeat([]error{conflict}, 5)}
		if err := pgxload.Retry(t.Context(), s, fine); err == nil || s.begun != 5 || s.pause(0) > 10*time.Millisecond || s.pause(0) < 5*time.Millisecond {
			t.Errorf("%d attempts, the first pause is %v, %v", s.begun, s.pause(0), err)
		}
		// A context that ends in a pause.
		s = &script{commits: slices.Repeat([]error{conflict}, 3)}
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		err = pgxload.RetryWith(short, s, pgxload.RetryConfig{Backoff: time.Hour, MaxBackoff: time.Hour}, fine)
		if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, conflict) || s.begun != 1 || time.Since(began) != time.Second {
			t.Errorf("%v after %v, %d attempts", err, time.Since(began), s.begun)
		}
	})
}

// What COMMIT or f returns decides whether there is another attempt, and whether the outcome is known.
func TestRetryErrors(t *testing.T) {
	mine := errors.New("mine")
	pg := func(severity, code string) error { return &pgconn.PgError{Severity: severity, Code: code} }
	in := func(f ...error) []error { return f }
	synctest.Test(t, func(t *testing.T) {
		for _, tt := range []struct {
			name    string
			f       []error // of its runs; at the end nil
			commits []error
			begun   int
			asked   int // RetryIf
			want    error
			unknown bool
			ended   string
		}{
			{"conflicts", nil, in(conflict, pg("ERROR", "40P01")), 3, 0, nil, false, "commit commit commit "},
			{"conflicts in f", in(fmt.Errorf("in f: %w", conflict), conflict), nil, 3, 0, nil, false, "rollback rollback commit "},
			{"another error", nil, in(refused), 1, 1, refused, false, "commit "},
			{"no answer", nil, in(io.ErrUnexpectedEOF), 1, 0, io.ErrUnexpectedEOF, true, "commit "},
			{"a deadline", nil, in(context.DeadlineExceeded), 1, 0, context.DeadlineExceeded, true, "commit "},
			{"FATAL", nil, in(pg("FATAL", "40001")), 1, 0, nil, true, "commit "},
			{"FATAL in another language", nil, in(&pgconn.PgError{Severity: "FATALE", SeverityUnlocalized: "FATAL", Code: "57P01"}), 1, 0, nil, true, "commit "},
			{"statement_completion_unknown", nil, in(pg("ERROR", "40003")), 1, 0, nil, true, "commit "},
			{"a pooler whose server is lost", nil, in(pg("ERROR", "08006")), 1, 0, nil, true, "commit "},
			{"ERROR in another language", nil, in(&pgconn.PgError{Severity: "FEHLER", SeverityUnlocalized: "ERROR", Code: "23503"}), 1, 1, nil, false, "commit "},
			{"rolled back", nil, in(pgx.ErrTxCommitRollback), 1, 1, pgx.ErrTxCommitRollback, false, "commit "},
			{"ended by f", nil, in(pgx.ErrTxClosed), 1, 0, pgx.ErrTxClosed, false, "commit "},
			{"accepted by RetryIf", in(mine, mine), nil, 3, 2, nil, false, "rollback rollback commit "},
			{"not accepted by RetryIf", in(mine, errOther), nil, 2, 2, errOther, false, "rollback rollback "},
			{"a conflict, then accepted by RetryIf", in(conflict, mine), nil, 3, 1, nil, false, "rollback rollback commit "},
			{"accepted by RetryIf at COMMIT", nil, in(fmt.Errorf("%w: %w", mine, pg("ERROR", "23503"))), 2, 1, nil, false, "commit commit "},
			{"always accepted by RetryIf", slices.Repeat(in(mine), 5), nil, 5, 5, mine, false, strings.Repeat("rollback ", 5)},
		} {
			s, asked := &script{commits: tt.commits}, 0
			_, err := retry(t.Context(), s, pgxload.RetryConfig{RetryIf: func(err error) bool { asked++; return errors.Is(err, mine) }}, func(_ pgx.Tx, run int) error {
				if run <= len(tt.f) {
					return tt.f[run-1]
				}
				return nil
			})
			fails := tt.begun <= len(tt.f) || tt.begun <= len(tt.commits)
			if (err != nil) != fails || !errors.Is(err, tt.want) && tt.want != nil || errors.Is(err, sqltype.ErrOutcomeUnknown) != tt.unknown || s.begun != tt.begun || asked != tt.asked || s.ended != tt.ended {
				t.Errorf("%s: %v after %d attempts, asked %d times; %s", tt.name, err, s.begun, asked, s.ended)
			}
			if says := strings.Contains(fmt.Sprint(err), "f must not commit or roll back the transaction"); says != (tt.want == pgx.ErrTxClosed) {
				t.Errorf("%s: %v", tt.name, err)
			}
		}
		// A context that ended in f: nothing is committed, and RetryIf is not called.
		for _, fails := range []error{nil, mine} {
			s, asked := &script{}, false
			ctx, cancel := context.WithCancel(t.Context())
			err := pgxload.RetryWith(ctx, s, pgxload.RetryConfig{RetryIf: func(error) bool { asked = true; return true }}, func(pgx.Tx) error { cancel(); return fails })
			if fails == nil && !errors.Is(err, context.Canceled) || !errors.Is(err, fails) && fails != nil || s.ended != "rollback " || asked {
				t.Errorf("%v, asked %t, %s", err, asked, s.ended)
			}
		}
		s := &script{}
		func() {
			defer func() {
				if v := recover(); v != "boom" || s.ended != "rollback " {
					t.Errorf("recovered %v, %s", v, s.ended)
				}
			}()
			_ = pgxload.Retry(t.Context(), s, func(pgx.Tx) error { panic("boom") })
		}()
	})
}

// Committed is asked when the outcome is unknown, also if ctx is done. If it returns false too early,
// Retry asks again before it gives up.
func TestRetryCommitted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := func(commits ...error) []error { return commits }
		for _, tt := range []struct {
			name      string
			commits   []error
			fails     error // of f in its second run
			cancelled bool
			answers   string // y, n, or an error
			runs      int
			want      error
			unknown   bool
		}{
			{"the last attempt's no is early", in(io.EOF, io.EOF), nil, false, "ny", 2, nil, false},
			{"the last attempt's no stays", in(io.EOF, io.EOF), nil, false, "nn", 2, io.EOF, true},
			{"an error of f, and the no was early", in(io.EOF), errOther, false, "ny", 2, nil, false},
			{"an error of f, and the no stays", in(io.EOF), errOther, false, "nn", 2, errOther, true},
			{"a conflict, and the no was early", in(io.EOF, conflict), nil, false, "ny", 2, nil, false},
			{"a conflict, and the no stays", in(io.EOF, conflict), nil, false, "nn", 2, conflict, true},
			{"a conflict alone", in(conflict, conflict), nil, false, "", 2, conflict, false},
			{"yes", in(io.EOF), nil, false, "y", 1, nil, false},
			{"no answer at once", in(io.EOF), nil, false, "e", 1, errSource, true},
			{"no answer later", in(io.EOF, io.EOF), nil, false, "ne", 2, errSource, true},
			{"cancelled in COMMIT, yes", in(context.Canceled), nil, true, "y", 1, nil, false},
			{"cancelled in COMMIT, the no stays", in(context.Canceled), nil, true, "n", 1, context.Canceled, true},
			{"the keys refuse the second run, yes", in(io.EOF), refused, false, "ny", 2, nil, false},
			{"the keys refuse the second run, the no stays", in(io.EOF), refused, false, "nn", 2, refused, true},
		} {
			ctx, cancel := context.WithCancel(t.Context())
			s := &script{commits: tt.commits}
			if tt.cancelled {
				s.commit = cancel
			}
			var asked []time.Time
			cfg := pgxload.RetryConfig{Attempts: 2, Backoff: time.Minute, MaxBackoff: time.Minute, Committed: func(ctx context.Context) (bool, error) {
				deadline, _ := ctx.Deadline()
				if left := time.Until(deadline); left != 10*time.Second || ctx.Err() != nil {
					t.Errorf("%s: asked with %v, %v left", tt.name, ctx.Err(), left)
				}
				if asked = append(asked, time.Now()); len(asked) > len(tt.answers) {
					return false, errOther
				}
				answer := tt.answers[len(asked)-1]
				if answer == 'e' {
					return false, errSource
				}
				return answer == 'y', nil
			}}
			runs, err := retry(ctx, s, cfg, func(_ pgx.Tx, run int) error {
				if run == 2 {
					return tt.fails
				}
				return nil
			})
			if !errors.Is(err, tt.want) || errors.Is(err, sqltype.ErrOutcomeUnknown) != tt.unknown || len(asked) != len(tt.answers) || runs != tt.runs {
				t.Errorf("%s: asked %d times in %d runs, %v", tt.name, len(asked), runs, err)
			}
			if n := len(asked); n > 0 && (runs == 2 || tt.cancelled) { // the last question, while the server may still be committing
				if pause := asked[n-1].Sub(s.at[runs-1]); pause != time.Second {
					t.Errorf("%s: asked after %v", tt.name, pause)
				}
			}
			cancel()
		}
	})
}

// A transaction that a statement ends cannot be committed: what f wrote is gone.
func TestRetryEndedByStatement(t *testing.T) {
	s := newShop(t, pgx.QueryExecModeCacheStatement, true, `create table t (id bigint)`)
	for statement, stays := range map[string]int64{"rollback": 0, "commit": 1, "abort": 0} {
		runs, err := retry(t.Context(), s.pool, pgxload.RetryConfig{}, func(tx pgx.Tx, _ int) error {
			_, err := tx.Exec(t.Context(), `insert into t values (1); `+statement, pgx.QueryExecModeSimpleProtocol)
			return err
		})
		n := s.ask(t, `select count(*) from t`)
		if err == nil || !strings.Contains(err.Error(), "f must not commit or roll back the transaction") || runs != 1 || n != stays {
			t.Errorf("%s: %d rows, %v after %d runs", statement, n, err, runs)
		}
		s.exec(t, `truncate t`)
	}
}
