package pgxload

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/seed-299c1d6b/snowkey/internal/retry"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// TxBeginner is a *pgxpool.Pool or a *pgx.Conn, but not a pgx.Tx: the whole transaction must run again.
type TxBeginner interface {
	BeginTx(ctx context.Context, options pgx.TxOptions) (pgx.Tx, error)
}

// RetryConfig configures [RetryWith]. The zero value is ready for use.
type RetryConfig struct {
	Attempts   int           // at most, including the first; zero: 5
	Backoff    time.Duration // the longest pause after the first attempt, doubled after each further one; pauses are random, from half of that; zero: 10ms
	MaxBackoff time.Duration // the limit of Backoff's doubling; zero: 1s
	Tx         pgx.TxOptions // zero: the server's defaults

	// Committed reports, after sqltype.ErrOutcomeUnknown, whether the transaction was committed, for
	// example by looking up one of its keys. If it was, Retry succeeds. If not, Retry runs it again, and
	// asks once more before it fails, because the server may still have been committing. Committed has
	// 10 seconds, even after Retry's ctx is done. nil: Retry returns ErrOutcomeUnknown.
	Committed func(ctx context.Context) (bool, error)

	// RetryIf reports whether to run the transaction again after any other error. It is not asked
	// after sqltype.ErrOutcomeUnknown, nor after ctx is done. nil: never.
	RetryIf func(err error) bool
}

// Retry runs f in a transaction and commits it. It rolls back and runs f again in a new transaction
// after a conflict with another one (SQLSTATE 40001, serialization_failure, or 40P01,
// deadlock_detected), and if the connection was lost before COMMIT was sent. It returns any other error
// at once. After the last attempt it returns the error of that attempt.
//
// f may write other rows in each attempt. Open a channel, a file or an iterator in f: otherwise an
// attempt reads only what the last one left. Assign keys before Retry: if an earlier COMMIT succeeded
// without an answer, the database then refuses the same rows. f must not commit or roll back tx: that is
// an error, and what f committed stays. ROLLBACK AND CHAIN in f is not detected: its rows are lost.
//
// If COMMIT was sent and not answered, the error is [sqltype.ErrOutcomeUnknown]. If f panics, Retry rolls
// back and the panic continues. Retry returns when ctx is done, even during a pause.
func Retry(ctx context.Context, db TxBeginner, f func(tx pgx.Tx) error) error {
	return RetryWith(ctx, db, RetryConfig{}, f)
}

// RetryWith is like [Retry], with options. For a wrong RetryConfig it returns a *core.ConfigError with
// all faults.
func RetryWith(ctx context.Context, db TxBeginner, cfg RetryConfig, f func(tx pgx.Tx) error) error {
	wrong := required(db, f == nil)
	limits := retry.Limits{Attempts: cfg.Attempts, Backoff: cfg.Backoff, MaxBackoff: cfg.MaxBackoff}.Validate(&wrong)
	if err := wrong.Err("pgxload"); err != nil {
		return err
	}
	var unknown error // the last attempt whose COMMIT was not answered, and for which Committed has returned false
	for n := 1; ; n++ {
		again, err := cfg.attempt(ctx, db, f)
		if err == nil {
			return nil
		}
		open := cfg.Committed != nil && errors.Is(err, sqltype.ErrOutcomeUnknown)
		final := n == limits.Attempts || !again && !open || ctx.Err() != nil
		if open {
			unknown = err
		} else if unknown != nil {
			err = fmt.Errorf("%w; before that: %w", err, unknown)
		}
		if open || final && unknown != nil {
			if final {
				pause, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
				_ = limits.Wait(pause, n)
				cancel()
			}
			if done, failed := cfg.ask(ctx, err); done || failed != nil {
				return failed
			}
		}
		if !final {
			stopped := limits.Wait(ctx, n)
			if stopped == nil {
				continue
			}
			err = fmt.Errorf("%w; after %w", stopped, err)
		}
		return fmt.Errorf("pgxload: Retry: attempt %d of %d: %w", n, limits.Attempts, err)
	}
}

// ask calls Committed, even if ctx is done.
func (cfg *RetryConfig) ask(ctx context.Context, after error) (done bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if done, err = cfg.Committed(ctx); err != nil {
		err = fmt.Errorf("pgxload: Retry: Committed: %w; after %w", err, after)
	}
	return done, err
}

// attempt runs f once. again reports whether to run f again; it is false for ErrOutcomeUnknown.
func (cfg *RetryConfig) attempt(ctx context.Context, db TxBeginner, f func(pgx.Tx) error) (again bool, err error) {
	ran, lost := false, true // lost: the connection may be lost: BEGIN or COMMIT failed, or it is closed
	tx, err := db.BeginTx(ctx, cfg.Tx)
	if err != nil {
		err = fmt.Errorf("begin: %w", err)
	} else {
		err = inTx(ctx, tx, false, func() error {
			err := f(tx)
			c := tx.Conn() // after the commit, a pool's connection may belong to another caller
			ran, lost = err == nil, err == nil || c != nil && c.IsClosed()
			return err
		})
	}
	switch {
	case ran && (errors.Is(err, pgx.ErrTxClosed) || errors.Is(err, errEnded)):
		return false, fmt.Errorf("f must not commit or roll back the transaction; what f committed is in the database: %w", err)
	case err == nil, errors.Is(err, sqltype.ErrOutcomeUnknown), ctx.Err() != nil:
		return false, err
	case retry.IsConflict(err), lost && isLost(err) && !closed(db):
		return true, err
	}
	return cfg.RetryIf != nil && cfg.RetryIf(err), err
}

// closed reports whether db is a single connection, which cannot be replaced, and is closed.
func closed(db TxBeginner) bool {
	if c, ok := db.(interface{ Conn() *pgx.Conn }); ok { // a *pgxpool.Conn
		return c.Conn().IsClosed()
	}
	c, ok := db.(*pgx.Conn)
	return ok && c.IsClosed()
}

// isLost reports whether the network failed, or the server is stopping or starting. A failed login does
// not count.
func isLost(err error) bool {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false // the caller's limit
	}
	if state := retry.SQLState(err); state != "" {
		return strings.HasPrefix(state, "08") || slices.Contains([]string{"57P01", "57P02", "57P03", "57P05"}, state)
	}
	ends := []error{pgconn.ErrConnClosed, io.EOF, io.ErrUnexpectedEOF, net.ErrClosed}
	var network net.Error
	return slices.ContainsFunc(ends, func(end error) bool { return errors.Is(err, end) }) || errors.As(err, &network)
}
