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

	"github.com/seed-299c1d6b/snowkey/internal/backoff"
)

// A TxBeginner begins the transactions of [Retry]: a *pgxpool.Pool or a
// *pgx.Conn. A pgx.Tx is none, because a transaction that lost to another must
// be begun anew as a whole.
type TxBeginner interface {
	BeginTx(ctx context.Context, options pgx.TxOptions) (pgx.Tx, error)
}

// RetryConfig says how often and how soon. The zero value is ready for use.
type RetryConfig struct {
	Attempts   int           // zero: 5, the first included
	Backoff    time.Duration // zero: 10ms; the pause after the first attempt, doubled after each; a random part of it, at least half, is waited
	MaxBackoff time.Duration // zero: 1s; no pause is longer
	Tx         pgx.TxOptions // zero: the server's defaults

	// Committed answers, after ErrOutcomeUnknown, whether the transaction is in
	// the database, for example by looking up one of its keys. If so, Retry
	// succeeds; if not, it tries again. Nil: Retry returns ErrOutcomeUnknown.
	//
	// Its context is not done when Retry's is, which may be why the answer never
	// came; it has 10 seconds.
	//
	// A no may come too early, while the server is still at it. The attempt
	// after it then waits for the old one at the primary key and is refused
	// there, because its keys are the same; and Committed is asked once more. So
	// it is before Retry gives up, after a pause of at most a second. The error is
	// ErrOutcomeUnknown then only if no later attempt has run f to its end.
	Committed func(ctx context.Context) (bool, error)

	// RetryIf reports whether an error of an attempt, of f's or at BEGIN or COMMIT,
	// begins the transaction anew, beside those that do anyway. It is not asked
	// about ErrOutcomeUnknown, nor once ctx is done. Nil: no other error does.
	RetryIf func(err error) bool
}

// Retry runs f in a transaction and commits it. If that fails because another
// transaction was in the way (SQLSTATE 40001, serialization_failure, or 40P01,
// deadlock_detected, in f or at COMMIT), or because the connection was lost before
// COMMIT was sent, it is rolled back, and f runs again in a new one; of a pool, on
// another connection. So it is after an error that RetryIf accepts. Any other
// error is returned at once, as is that of the last attempt.
//
// f must do the same each time. Assign keys before, not in it: then each
// attempt writes the same rows, and an attempt whose COMMIT came through
// unnoticed cannot be written a second time. A sequence that [Load] reads in f,
// and that of a [DetailSeq], must be one that can be run again: what an attempt
// has taken from a sequence that cannot would be missing in the next.
//
// Load gives an error instead where it sees that. It compares, with what the
// attempts before gave to the same call of Load, counted from the beginning of f,
// in savepoints too: by table the first row, all of its columns but those whose
// value is a Go map, and the number of rows, which must not be below those that an
// attempt has taken, and must be that of an attempt whose rows all were sent. So
// a sequence of masters that went on where it had stopped is always noticed if the
// key is among a table's columns. Rows are not compared one by one: not noticed are
// other values below the first row, and rows that are missing there if the attempt
// before ended before it had taken as many as are left.
//
// If COMMIT was sent and not answered, the error is [ErrOutcomeUnknown]; see
// [RetryConfig.Committed]. A panic of f goes on after the rollback. Retry ends
// when ctx does, also while it pauses. f must not commit or roll back itself: that
// is an error, and what f committed stays. The error of a constraint that is
// checked at COMMIT is a [LoadError], if one table of f's loads is the one that
// PostgreSQL names.
func Retry(ctx context.Context, db TxBeginner, cfg RetryConfig, f func(tx pgx.Tx) error) error {
	if ctx == nil {
		ctx = context.Background()
	}
	if err := cfg.check(db, f); err != nil {
		return err
	}
	var loads []*taken
	var unknown error // that of an attempt which Committed said was none
	settled := false  // a later attempt has run to its end, and so has waited for that one
	for n := 1; ; n++ {
		a := once(ctx, db, cfg.Tx, f, &attempt{loads: &loads})
		if a.err == nil {
			return nil
		}
		settled = settled || a.ran && unknown != nil
		again := cfg.again(ctx, db, a)
		open := errors.Is(a.err, ErrOutcomeUnknown)
		if cfg.Committed != nil && (open || unknown != nil && sqlState(a.err) == "23505") {
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
			if stopped = (backoff.Backoff{Min: cfg.Backoff, Max: cfg.MaxBackoff}).Wait(ctx, n); stopped == nil {
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

func (cfg *RetryConfig) check(db TxBeginner, f func(pgx.Tx) error) error {
	var bad faults
	if isNil(db) {
		bad.add("db is nil")
	}
	if f == nil {
		bad.add("f is nil")
	}
	if cfg.Attempts < 0 {
		bad.add("Attempts %d: must not be negative", cfg.Attempts)
	}
	if cfg.Backoff < 0 {
		bad.add("Backoff %v: must not be negative", cfg.Backoff)
	}
	if cfg.MaxBackoff < 0 {
		bad.add("MaxBackoff %v: must not be negative", cfg.MaxBackoff)
	}
	if cfg.Attempts == 0 {
		cfg.Attempts = 5
	}
	if cfg.Backoff == 0 {
		cfg.Backoff = 10 * time.Millisecond
	}
	if cfg.MaxBackoff == 0 {
		cfg.MaxBackoff = time.Second
	}
	return bad.err("Retry")
}

// askLimit is how long the question may take whether COMMIT came through.
const askLimit = 10 * time.Second

// ask calls Committed, even if ctx is done: that the rows are there is to be known.
func (cfg *RetryConfig) ask(ctx context.Context) (bool, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askLimit)
	defer cancel()
	return cfg.Committed(ctx)
}

// askAgain does so before Retry gives up, a little later: the server may still have
// been at it.
func (cfg *RetryConfig) askAgain(ctx context.Context, attempts int) (bool, error) {
	pause, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = backoff.Backoff{Min: cfg.Backoff, Max: cfg.MaxBackoff}.Wait(pause, attempts) // at most that long
	return cfg.ask(ctx)
}

// ended is how an attempt ended.
type ended struct {
	err  error
	ran  bool // f returned no error
	lost bool // an error of the connection's would be this one's: it was not had, is closed, or COMMIT failed
}

func once(ctx context.Context, db TxBeginner, options pgx.TxOptions, f func(pgx.Tx) error, within *attempt) (end ended) {
	tx, err := db.BeginTx(ctx, options)
	if err != nil {
		return ended{err: fmt.Errorf("begin: %w", err), lost: true}
	}
	end.err = inTx(ctx, tx, false, func() error {
		err := f(&attemptTx{Tx: tx, attempt: within})
		c := tx.Conn() // afterwards a pool's connection is another's
		end.ran, end.lost = err == nil, err == nil || c != nil && c.IsClosed()
		return err
	})
	if !end.ran {
		return end
	}
	if errors.Is(end.err, pgx.ErrTxClosed) {
		end.err = fmt.Errorf("f has committed or rolled back the transaction itself, which is for Retry to do; what f committed is in the database: %w", end.err)
	} else {
		end.err = atCommit(end.err, within.names())
	}
	return end
}

// again reports whether the transaction is to be run again. What is unknown is not
// for it to say.
func (cfg *RetryConfig) again(ctx context.Context, db TxBeginner, a ended) bool {
	switch {
	case errors.Is(a.err, ErrOutcomeUnknown), ctx.Err() != nil:
		return false
	case inTheWay(a.err), a.lost && connectionLost(a.err) && !closed(db):
		return true
	}
	return cfg.RetryIf != nil && cfg.RetryIf(a.err)
}

// inTheWay reports whether PostgreSQL asks for the transaction to be run again.
func inTheWay(err error) bool {
	switch sqlState(err) {
	case "40001", "40P01":
		return true
	}
	return false
}

// connectionLost reports whether an error is about the connection: the network's,
// or that the server goes, is gone, or is not there yet. Not one of logging in.
func connectionLost(err error) bool {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false // a limit of the caller's
	}
	switch state := sqlState(err); {
	case strings.HasPrefix(state, "08"):
		return true
	case state != "":
		return slices.Contains([]string{"57P01", "57P02", "57P03", "57P05"}, state)
	}
	var network net.Error
	return errors.Is(err, pgconn.ErrConnClosed) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) || errors.As(err, &network)
}

// closed reports whether db is one connection, and that is gone.
func closed(db TxBeginner) bool {
	if c, ok := db.(interface{ Conn() *pgx.Conn }); ok { // of a pool
		return c.Conn().IsClosed()
	}
	c, ok := db.(interface{ IsClosed() bool })
	return ok && c.IsClosed()
}

func sqlState(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code
	}
	return ""
}

// join keeps an outcome that was unknown in sight of errors.Is.
func join(err, unknown error) error {
	if unknown == nil || errors.Is(err, ErrOutcomeUnknown) {
		return err
	}
	return fmt.Errorf("%w; before that: %w", err, unknown)
}
