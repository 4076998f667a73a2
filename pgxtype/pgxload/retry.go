package pgxload

import (
	"cmp"
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
	ctx = cmp.Or(ctx, context.Background())
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

func required(db any, noFunction bool) (wrong fields.Errors) {
	if fields.IsNil(db) {
		wrong.Add("db", nil, "is required")
	}
	if noFunction {
		wrong.Add("f", nil, "is required")
	}
	return wrong
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
	var network net.Error
	return errors.Is(err, pgconn.ErrConnClosed) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) || errors.As(err, &network)
}

var errEnded = errors.New("a statement, such as ROLLBACK by Exec, has ended the transaction")

// inTx runs f in tx and commits. If f fails or panics, inTx rolls back, even if ctx is done: the caller of
// a savepoint may commit the transaction around it. If the rollback fails, inTx closes the connection.
func inTx(ctx context.Context, tx pgx.Tx, nested bool, f func() error) error {
	cleanUp := func(end func(context.Context) error) error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		err := end(ctx)
		if err != nil && !errors.Is(err, pgx.ErrTxClosed) {
			_ = tx.Conn().Close(ctx)
		}
		return err
	}
	ended := false
	defer func() {
		if !ended {
			_ = cleanUp(tx.Rollback)
		}
	}()
	err := f()
	if err != nil {
		return err
	}
	switch c := tx.Conn(); {
	case ctx.Err() != nil:
		err = ctx.Err()
	case c == nil || c.PgConn() == nil: // in a test
	case c.IsClosed():
		err = pgconn.ErrConnClosed
	case c.PgConn().TxStatus() == 'I': // idle; pgx does not notice it, and COMMIT would succeed
		err = errEnded
	}
	if err != nil {
		return fmt.Errorf("pgxload: before COMMIT: %w", err)
	}
	ended = true
	if !nested {
		return outcome(tx.Commit(ctx))
	}
	// pgx considers a savepoint ended even if the statement was never sent, so ctx must not stop it.
	if err = cleanUp(tx.Commit); err != nil {
		err = fmt.Errorf("pgxload: release savepoint: %w", err)
	}
	return err
}

// outcome adds ErrOutcomeUnknown to an error of COMMIT, unless the error means "not committed".
func outcome(err error) error {
	if err == nil {
		return nil
	}
	// A closed connection does not prove that COMMIT was not sent, though pgx calls it safe to retry: it
	// may have been lost during the wait for the answer. inTx has checked that it was open before.
	neverSent := pgconn.SafeToRetry(err) && !errors.Is(err, pgconn.ErrConnClosed)
	// When the commit is on disk, the server may still end the session, and a pooler may lose the server (08).
	var pg *pgconn.PgError
	refused := errors.As(err, &pg) && cmp.Or(pg.SeverityUnlocalized, pg.Severity) == "ERROR" && pg.Code != "40003" && !strings.HasPrefix(pg.Code, "08")
	switch {
	case refused && pg.TableName != "": // a deferred constraint
		return &LoadError{Table: pg.TableName, Row: -1, Column: pg.ColumnName, Err: fmt.Errorf("commit: %w", err)}
	case refused, neverSent, errors.Is(err, pgx.ErrTxCommitRollback), errors.Is(err, pgx.ErrTxClosed):
		return fmt.Errorf("pgxload: commit: %w", err)
	}
	return fmt.Errorf("pgxload: %w: %w", sqltype.ErrOutcomeUnknown, err)
}
