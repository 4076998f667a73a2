package pgxtype

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

	"github.com/seed-299c1d6b/snowkey/internal/fields"
	"github.com/seed-299c1d6b/snowkey/internal/retry"
)

// TxBeginner begins the transactions of [Retry]: a *pgxpool.Pool or a *pgx.Conn. A pgx.Tx is not
// one, because after a conflict the whole transaction must run again.
type TxBeginner interface {
	BeginTx(ctx context.Context, options pgx.TxOptions) (pgx.Tx, error)
}

// RetryConfig configures [Retry]. The zero value is ready for use.
type RetryConfig struct {
	Attempts   int           // at most, including the first; 1: no retry; zero: 5
	Backoff    time.Duration // the longest pause after the first attempt, doubled after each; pauses are random, at least half of that; zero: 10ms
	MaxBackoff time.Duration // the longest pause; zero: 1s
	Tx         pgx.TxOptions // zero: the server's defaults

	// Committed reports, after ErrOutcomeUnknown, whether the transaction is in the database,
	// for example by looking up one of its keys. If it is, Retry succeeds. If not, Retry runs
	// the transaction again. nil: Retry returns ErrOutcomeUnknown.
	//
	// Its context has a timeout of 10 seconds, and ignores the end of Retry's context, which
	// may be the reason for the missing answer. docs/pgx.md explains when Retry calls it more
	// than once.
	Committed func(ctx context.Context) (bool, error)

	// RetryIf reports whether Retry runs the transaction again after another error of f, BEGIN
	// or COMMIT. It is not called for ErrOutcomeUnknown, nor after ctx is done. nil: never.
	RetryIf func(err error) bool
}

// Retry runs f in a transaction and commits it. It rolls back and runs f again in a new
// transaction in three cases: after a conflict with another transaction (SQLSTATE 40001,
// serialization_failure, or 40P01, deadlock_detected); if the connection was lost before COMMIT
// was sent; and after an error that RetryIf accepts. It returns any other error at once, and
// the error of the last attempt.
//
// f must do the same each time. Assign keys before Retry, not in f: then each attempt writes the
// same rows, and the database refuses them if an earlier COMMIT succeeded without an answer. A
// sequence that [Load] reads in f must start from the beginning each time; Load returns an error
// if it detects that rows are missing. f must not commit or roll back itself: that is an
// error, and what f committed stays.
//
// If COMMIT was sent and not answered, the error is [ErrOutcomeUnknown]; see
// [RetryConfig.Committed]. If f panics, Retry rolls back and the panic continues. Retry returns
// when ctx is done, also during a pause. The error of a constraint that is checked at COMMIT
// is a [LoadError] if f has loaded exactly one table with the name in PostgreSQL's error.
func Retry(ctx context.Context, db TxBeginner, cfg RetryConfig, f func(tx pgx.Tx) error) error {
	if ctx == nil {
		ctx = context.Background()
	}
	if err := cfg.check(db, f); err != nil {
		return err
	}
	var loads []*rowsRead
	var unknown error // of an attempt that was not committed, according to Committed
	settled := false  // a later attempt has run f to its end, so it has waited for that one
	for n := 1; ; n++ {
		a := once(ctx, db, cfg.Tx, f, &attempt{loads: &loads})
		if a.err == nil {
			return nil
		}
		settled = settled || a.ran && unknown != nil
		again := cfg.retryable(ctx, db, a)
		open := errors.Is(a.err, ErrOutcomeUnknown)
		if cfg.Committed != nil && (open || unknown != nil && retry.SQLState(a.err) == "23505") {
			done, err := cfg.ask(ctx)
			if err != nil {
				return fmt.Errorf("pgxtype: Retry: Committed: %w; after attempt %d: %w", err, n, join(a.err, unknown))
			}
			if done {
				return nil
			}
			if open {
				again, unknown, settled = true, a.err, false
			}
		}
		var stopped error
		if again && n < cfg.Attempts {
			if stopped = cfg.limits().Wait(ctx, n); stopped == nil {
				continue
			}
		}
		if unknown != nil {
			done, err := cfg.askAgain(ctx, n)
			switch {
			case done:
				return nil
			case err != nil:
				return fmt.Errorf("pgxtype: Retry: Committed: %w; after attempt %d: %w", err, n, join(a.err, unknown))
			case settled:
				unknown = nil
			}
		}
		if stopped != nil {
			return fmt.Errorf("pgxtype: Retry: %w; after attempt %d of %d: %w", stopped, n, cfg.Attempts, join(a.err, unknown))
		}
		return fmt.Errorf("pgxtype: Retry: attempt %d of %d: %w", n, cfg.Attempts, join(a.err, unknown))
	}
}

func (cfg *RetryConfig) limits() retry.Limits {
	return retry.Limits{Attempts: cfg.Attempts, Backoff: cfg.Backoff, MaxBackoff: cfg.MaxBackoff}
}

func (cfg *RetryConfig) check(db TxBeginner, f func(pgx.Tx) error) error {
	var wrong fields.Errors
	if fields.IsNil(db) {
		wrong.Add("db", nil, "is required")
	}
	if f == nil {
		wrong.Add("f", nil, "is required")
	}
	limits := cfg.limits().Validate(&wrong)
	cfg.Attempts, cfg.Backoff, cfg.MaxBackoff = limits.Attempts, limits.Backoff, limits.MaxBackoff
	return wrong.Err("pgxtype")
}

// askLimit is the timeout of Committed.
const askLimit = 10 * time.Second

// ask calls Committed, even if ctx is done.
func (cfg *RetryConfig) ask(ctx context.Context) (bool, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askLimit)
	defer cancel()
	return cfg.Committed(ctx)
}

// askAgain calls Committed after a pause, before Retry returns an error: the server may still have
// been committing.
func (cfg *RetryConfig) askAgain(ctx context.Context, attempts int) (bool, error) {
	pause, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = cfg.limits().Wait(pause, attempts)
	return cfg.ask(ctx)
}

// result is how an attempt ended.
type result struct {
	err  error
	ran  bool // f returned no error
	lost bool // the connection may be lost: there was none, it is closed, or COMMIT failed
}

func once(ctx context.Context, db TxBeginner, options pgx.TxOptions, f func(pgx.Tx) error, within *attempt) (end result) {
	tx, err := db.BeginTx(ctx, options)
	if err != nil {
		return result{err: fmt.Errorf("begin: %w", err), lost: true}
	}
	end.err = inTx(ctx, tx, false, func() error {
		err := f(&attemptTx{Tx: tx, attempt: within})
		c := tx.Conn() // after the commit, a pool's connection may belong to another caller
		end.ran, end.lost = err == nil, err == nil || c != nil && c.IsClosed()
		return err
	})
	if !end.ran {
		return end
	}
	if errors.Is(end.err, pgx.ErrTxClosed) || errors.Is(end.err, errEnded) {
		end.err = fmt.Errorf("f must not commit or roll back the transaction; what f committed is in the database: %w", end.err)
	} else {
		end.err = atCommit(end.err, within.names())
	}
	return end
}

// retryable reports whether to run the transaction again. It is false for ErrOutcomeUnknown,
// which Committed decides.
func (cfg *RetryConfig) retryable(ctx context.Context, db TxBeginner, a result) bool {
	switch {
	case errors.Is(a.err, ErrOutcomeUnknown), ctx.Err() != nil:
		return false
	case retry.IsConflict(a.err), a.lost && connectionLost(a.err) && !closed(db):
		return true
	}
	return cfg.RetryIf != nil && cfg.RetryIf(a.err)
}

// connectionLost reports whether an error is one of the network, or of a server that is shutting
// down, down, or starting. A failed login is not.
func connectionLost(err error) bool {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false // the caller's limit
	}
	switch state := retry.SQLState(err); {
	case strings.HasPrefix(state, "08"):
		return true
	case state != "":
		return slices.Contains([]string{"57P01", "57P02", "57P03", "57P05"}, state)
	}
	var network net.Error
	return errors.Is(err, pgconn.ErrConnClosed) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) || errors.As(err, &network)
}

// closed reports whether db is a single connection, and closed.
func closed(db TxBeginner) bool {
	if c, ok := db.(interface{ Conn() *pgx.Conn }); ok { // a *pgxpool.Conn
		return c.Conn().IsClosed()
	}
	c, ok := db.(interface{ IsClosed() bool })
	return ok && c.IsClosed()
}

// join wraps unknown too, so that errors.Is finds ErrOutcomeUnknown.
func join(err, unknown error) error {
	if unknown == nil || errors.Is(err, ErrOutcomeUnknown) {
		return err
	}
	return fmt.Errorf("%w; before that: %w", err, unknown)
}
