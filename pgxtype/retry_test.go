package pgxtype_test

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
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seed-299c1d6b/snowkey/pgxtype"
)

const counters = `create table counters (id bigint primary key, n int not null);
	insert into counters values (1, 0), (2, 0);
	` + shopTables

// Serializable transactions that read what the others write. Each increments
// once, whatever it took.
func TestRetrySerialization(t *testing.T) {
	s := newShop(t, pgx.QueryExecModeCacheStatement, true, counters)
	const writers = 4
	var runs atomic.Int64
	var wg sync.WaitGroup
	start := make(chan struct{})
	var met sync.WaitGroup
	met.Add(writers)
	for w := range writers {
		wg.Go(func() {
			<-start
			first := true
			orders := makeOrders(3, 3)
			for i := range orders { // keys of its own
				orders[i].ID += ID(w * 1000)
				orders[i].ParentID = NullID{}
				for j := range orders[i].Lines {
					l := &orders[i].Lines[j]
					l.ID, l.OrderID = l.ID+ID(w*1000), orders[i].ID
					l.SKU = l.ID.String()
				}
			}
			err := pgxtype.Retry(t.Context(), s.pool, pgxtype.RetryConfig{Attempts: 50, Tx: pgx.TxOptions{IsoLevel: pgx.Serializable}}, func(tx pgx.Tx) error {
				runs.Add(1)
				var n int
				if err := tx.QueryRow(t.Context(), `select sum(n) from counters`).Scan(&n); err != nil {
					return err
				}
				if first { // all have read before one writes: all but one must fail
					first = false
					met.Done()
					met.Wait()
				}
				if _, err := pgxtype.Load(t.Context(), tx, pgxtype.Seq(slices.Values(orders)), shopConfig(pgxtype.Copy)); err != nil {
					return err
				}
				_, err := tx.Exec(t.Context(), `update counters set n = $1 where id = 1`, n+1)
				return err
			})
			if err != nil {
				t.Error(err)
			}
			if first { // the others wait for it
				met.Done()
			}
		})
	}
	close(start)
	wg.Wait()
	if n := s.ask(t, `select sum(n) from counters`); n != writers || runs.Load() < 2*writers-1 {
		t.Errorf("counted %d after %d runs", n, runs.Load())
	}
	if n := s.ask(t, `select count(*) from lines`); n != writers*9 {
		t.Errorf("%d lines", n)
	}
}

func TestRetryDeadlock(t *testing.T) {
	s := newShop(t, pgx.QueryExecModeCacheStatement, true, counters)
	var met, wg sync.WaitGroup
	met.Add(2)
	var runs atomic.Int64
	for _, ids := range [][2]ID{{1, 2}, {2, 1}} {
		wg.Go(func() {
			first := true
			err := pgxtype.Retry(t.Context(), s.pool, pgxtype.RetryConfig{}, func(tx pgx.Tx) error {
				runs.Add(1)
				for i, id := range ids {
					if _, err := tx.Exec(t.Context(), `update counters set n = n + 1 where id = $1`, id); err != nil {
						return fmt.Errorf("update %d: %w", id, err)
					}
					if first && i == 0 {
						first = false
						met.Done()
						met.Wait()
					}
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
			if first {
				met.Done()
			}
		})
	}
	wg.Wait()
	if n := s.ask(t, `select sum(n) from counters`); n != 4 || runs.Load() < 3 { // on a busy machine both may be chosen
		t.Errorf("counted %d after %d runs, want 4 after 3 or more", n, runs.Load())
	}
}

// script is a database whose transactions end as written.
type script struct {
	commits []error
	begun   int
	ended   []string
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
	tx.s.ended = append(tx.s.ended, "commit")
	if tx.s.commit != nil {
		tx.s.commit()
	}
	return tx.err
}

func (tx *scriptTx) Rollback(context.Context) error {
	tx.s.ended = append(tx.s.ended, "rollback")
	return nil
}

func TestRetryPauses(t *testing.T) {
	conflict := &pgconn.PgError{Severity: "ERROR", Code: "40001"}
	other := &pgconn.PgError{Severity: "ERROR", Code: "23505"}
	fine := func(pgx.Tx) error { return nil }
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		s := &script{commits: slices.Repeat([]error{conflict}, 9)}
		err := pgxtype.Retry(ctx, s, pgxtype.RetryConfig{Attempts: 8, Backoff: 8 * time.Millisecond, MaxBackoff: 50 * time.Millisecond}, fine)
		if !errors.Is(err, conflict) || s.begun != 8 || !strings.Contains(err.Error(), "attempt 8 of 8") {
			t.Errorf("%d attempts, %v", s.begun, err)
		}
		for i, ms := range []int{8, 16, 32, 50, 50, 50, 50} {
			most := time.Duration(ms) * time.Millisecond
			if d := s.at[i+1].Sub(s.at[i]); d > most || d < most/2 {
				t.Errorf("pause %d: %v, want %v to %v", i, d, most/2, most)
			}
		}
		s = &script{commits: []error{conflict, conflict, conflict, conflict, conflict}}
		if err := pgxtype.Retry(ctx, s, pgxtype.RetryConfig{}, fine); err == nil || s.begun != 5 {
			t.Errorf("%d attempts, %v", s.begun, err)
		}
		if d := s.at[1].Sub(s.at[0]); d > 10*time.Millisecond || d < 5*time.Millisecond {
			t.Errorf("the first pause is %v", d)
		}
		s = &script{commits: []error{conflict}}
		if err := pgxtype.Retry(ctx, s, pgxtype.RetryConfig{Backoff: time.Hour, MaxBackoff: time.Second}, fine); err != nil || s.at[1].Sub(s.at[0]) > time.Second {
			t.Errorf("a pause of %v, %v", s.at[1].Sub(s.at[0]), err)
		}
		pauses := map[time.Duration]bool{}
		for range 20 {
			s = &script{commits: []error{conflict}}
			if err := pgxtype.Retry(ctx, s, pgxtype.RetryConfig{}, fine); err != nil {
				t.Error(err)
			}
			pauses[s.at[1].Sub(s.at[0])] = true
		}
		if len(pauses) < 10 {
			t.Errorf("20 pauses have %d lengths", len(pauses))
		}
		s = &script{commits: []error{conflict, &pgconn.PgError{Severity: "ERROR", Code: "40P01"}}}
		if err := pgxtype.Retry(ctx, s, pgxtype.RetryConfig{}, fine); err != nil || s.begun != 3 {
			t.Errorf("%d attempts, %v", s.begun, err)
		}
		s = &script{commits: []error{other}}
		if err := pgxtype.Retry(ctx, s, pgxtype.RetryConfig{}, fine); !errors.Is(err, other) || errors.Is(err, pgxtype.ErrOutcomeUnknown) || s.begun != 1 {
			t.Errorf("%d attempts, %v", s.begun, err)
		}
		// Errors of COMMIT, and whether they leave its outcome open.
		for _, c := range []struct {
			err     error
			unknown bool
		}{
			{io.ErrUnexpectedEOF, true}, {context.DeadlineExceeded, true},
			{&pgconn.PgError{Severity: "FATAL", Code: "40001"}, true}, {&pgconn.PgError{Severity: "FATALE", SeverityUnlocalized: "FATAL", Code: "57P01"}, true},
			{&pgconn.PgError{Severity: "ERROR", Code: "40003"}, true}, {&pgconn.PgError{Severity: "FEHLER", SeverityUnlocalized: "ERROR", Code: "23503"}, false},
			{pgx.ErrTxCommitRollback, false}, {pgx.ErrTxClosed, false},
		} {
			s = &script{commits: []error{c.err}}
			if err := pgxtype.Retry(ctx, s, pgxtype.RetryConfig{}, fine); !errors.Is(err, c.err) || errors.Is(err, pgxtype.ErrOutcomeUnknown) != c.unknown || s.begun != 1 {
				t.Errorf("%v: %v after %d attempts", c.err, err, s.begun)
			}
		}
		// In f the same codes count, and the transaction is rolled back, not committed.
		s = &script{}
		n := 0
		err = pgxtype.Retry(ctx, s, pgxtype.RetryConfig{}, func(pgx.Tx) error {
			if n++; n < 3 {
				return fmt.Errorf("in f: %w", conflict)
			}
			return nil
		})
		if got := strings.Join(s.ended, " "); err != nil || got != "rollback rollback commit" {
			t.Errorf("%s, %v", got, err)
		}
		// A context that ends in a pause.
		s = &script{commits: []error{conflict, conflict, conflict}}
		short, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		began := time.Now()
		err = pgxtype.Retry(short, s, pgxtype.RetryConfig{Backoff: time.Hour, MaxBackoff: time.Hour}, fine)
		if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, conflict) || s.begun != 1 || time.Since(began) != time.Second {
			t.Errorf("%v after %v, %d attempts", err, time.Since(began), s.begun)
		}
		// And one that ended in f: nothing is committed.
		s = &script{}
		short, cancel = context.WithCancel(ctx)
		if err := pgxtype.Retry(short, s, pgxtype.RetryConfig{}, func(pgx.Tx) error { cancel(); return nil }); !errors.Is(err, context.Canceled) || strings.Join(s.ended, " ") != "rollback" {
			t.Errorf("%v, %v", s.ended, err)
		}
		// A context that ends within COMMIT: Committed is asked all the same.
		for _, there := range []bool{true, false} {
			s = &script{commits: []error{context.Canceled}}
			interrupted, cancel := context.WithCancel(ctx)
			s.commit = cancel
			err := pgxtype.Retry(interrupted, s, pgxtype.RetryConfig{Committed: func(ctx context.Context) (bool, error) {
				deadline, ok := ctx.Deadline()
				if left := time.Until(deadline); ctx.Err() != nil || !ok || left != 10*time.Second {
					t.Errorf("asked with %v, %v left", ctx.Err(), left)
				}
				return there, nil
			}}, fine)
			if there && err != nil || !there && (!errors.Is(err, pgxtype.ErrOutcomeUnknown) || !errors.Is(err, context.Canceled)) || s.begun != 1 {
				t.Errorf("cancelled in COMMIT, there=%v: %v", there, err)
			}
		}
		// Ended by f itself: said so.
		s = &script{commits: []error{pgx.ErrTxClosed}}
		if err := pgxtype.Retry(ctx, s, pgxtype.RetryConfig{}, fine); err == nil || !strings.Contains(err.Error(), "f must not commit or roll back the transaction") || s.begun != 1 {
			t.Errorf("ended by f: %v", err)
		}
		s = &script{}
		func() {
			defer func() {
				if v := recover(); v != "boom" || strings.Join(s.ended, " ") != "rollback" {
					t.Errorf("recovered %v, %v", v, s.ended)
				}
			}()
			_ = pgxtype.Retry(ctx, s, pgxtype.RetryConfig{}, func(pgx.Tx) error { panic("boom") })
		}()
	})
}

func TestRetryConfig(t *testing.T) {
	err := pgxtype.Retry(t.Context(), nil, pgxtype.RetryConfig{Attempts: -1, Backoff: -2, MaxBackoff: -3}, nil)
	for _, want := range []string{"pgxtype: ", "db nil: is required", "f nil: is required", "Attempts -1", "Backoff -2ns", "MaxBackoff -3ns"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not contain %q", err, want)
		}
	}
	for _, db := range []pgxtype.TxBeginner{(*pgx.Conn)(nil), (*pgxpool.Pool)(nil)} {
		if err := pgxtype.Retry(t.Context(), db, pgxtype.RetryConfig{}, func(pgx.Tx) error { return nil }); err == nil || !strings.Contains(err.Error(), "db nil: is required") {
			t.Errorf("%T: %v", db, err)
		}
	}
}

// A transaction that a statement ends cannot be committed: what f wrote is gone.
func TestRetryEndedByStatement(t *testing.T) {
	s := newShop(t, pgx.QueryExecModeCacheStatement, true, counters)
	for statement, stays := range map[string]bool{"rollback": false, "commit": true, "abort": false} {
		runs := 0
		err := pgxtype.Retry(t.Context(), s.pool, pgxtype.RetryConfig{}, func(tx pgx.Tx) error {
			runs++
			if _, err := tx.Exec(t.Context(), `update counters set n = n + 1 where id = 1`); err != nil {
				return err
			}
			_, err := tx.Exec(t.Context(), statement)
			return err
		})
		if err == nil || !strings.Contains(err.Error(), "f must not commit or roll back the transaction") || runs != 1 {
			t.Errorf("%s: %v after %d runs", statement, err, runs)
		}
		var n int
		if err := s.pool.QueryRow(t.Context(), `update counters c set n = 0 from counters o where c.id = 1 and o.id = 1 returning o.n`).Scan(&n); err != nil || (n == 1) != stays {
			t.Errorf("%s: n = %d, %v", statement, n, err)
		}
	}
}
