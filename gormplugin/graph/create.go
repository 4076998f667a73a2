package graph

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/keys"
	"github.com/seed-299c1d6b/snowkey/internal/fields"
	"github.com/seed-299c1d6b/snowkey/internal/retry"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Config configures [CreateWith]. The zero value is ready for use; [Create] uses it.
type Config struct {
	BatchSize  int           // rows of one INSERT, or fewer where the database limits them; zero: gorm's CreateBatchSize, or as many as are fast
	Attempts   int           // at most, including the first; 1: no retry; zero: 5
	Backoff    time.Duration // the longest pause after the first attempt, doubled after each; pauses are random, at least half of that; zero: 10ms
	MaxBackoff time.Duration // the longest pause; zero: 1s
}

func (cfg Config) validate() (retry.Limits, error) {
	var wrong fields.Errors
	if cfg.BatchSize < 0 {
		wrong.Add("BatchSize", cfg.BatchSize, "must not be negative")
	}
	limits := retry.Limits{Attempts: cfg.Attempts, Backoff: cfg.Backoff, MaxBackoff: cfg.MaxBackoff}.Validate(&wrong)
	return limits, wrong.Err("graph")
}

// Result is what [CreateWith] has written.
type Result struct {
	RowsAffected int64         // of the rows that were given, as gorm counts them
	Tables       []TableResult // in the order in which they were written, with join tables
	Statements   []Statement   // of a DryRun handle: what would be sent between BEGIN and COMMIT; else nil
}

// Statement was built and not sent. The method Explain of a Dialector joins SQL and Vars.
type Statement struct {
	SQL  string
	Vars []any // for its placeholders
}

// TableResult is what was written to one table.
type TableResult struct {
	Table        string
	Inserts      int   // the number of statements
	RowsAffected int64 // as the database counts them
}

// Create gives the rows of a graph their keys, as [Assign] does, and writes them in one
// transaction, with one INSERT of many rows for each table: parents first, join rows last. On any
// error it rolls back, and the rows are what they were before, unless the error wraps
// [sqltype.ErrOutcomeUnknown]: then create the same value again, with
// clause.OnConflict{DoNothing: true} on the handle. After a deadlock or a serialization failure it begins again, with new keys;
// all hooks run again. In a transaction of the caller it sets a savepoint, and retries nothing.
//
// If a row whose key was set exists, then, as in gorm, a parent or the far side of a many2many stays
// as it is, and a child moves to its new parent. If a parent with a new key collides in a unique
// index, its struct and the foreign keys get the existing row's key. A given row or a child that
// collides is an error, and so is a parent whose key the database makes. Rows that refer to each
// other in a cycle are a [*CycleError].
func Create(ctx context.Context, db *gorm.DB, value any) error {
	_, err := CreateWith(ctx, db, value, Config{})
	return err
}

// CreateWith is [Create] with options, and reports what was written. On an error the Result is
// zero. A wrong Config is a *core.ConfigError with all faults.
func CreateWith(ctx context.Context, db *gorm.DB, value any, cfg Config) (Result, error) {
	limits, err := cfg.validate()
	if err != nil {
		return Result{}, err
	}
	g, err := newGraph(ctx, db, value, true)
	if err != nil {
		return Result{}, err
	}
	if len(g.order) == 0 {
		return Result{}, fmt.Errorf("graph: %s: %w", keys.TypeName(reflect.TypeOf(value)), gorm.ErrEmptySlice)
	}
	if !g.ownsTransaction() {
		limits.Attempts = 1
	}
	restore, keep := g.snapshot(), false
	defer func() { // also if a hook panics
		if !keep {
			restore()
		}
	}()
	for attempt := 1; ; attempt++ {
		w := &writer{graph: g, batchSize: cfg.BatchSize}
		end, err := w.attempt()
		if keep = end >= unknown; end == committed {
			return w.result, nil
		}
		if attempt == limits.Attempts || end != failed || !isConflict(err) {
			if attempt > 1 {
				err = fmt.Errorf("%w (attempt %d of %d)", err, attempt, limits.Attempts)
			}
			return Result{}, err
		}
		restore()
		if stopped := limits.Wait(g.ctx, attempt); stopped != nil {
			return Result{}, fmt.Errorf("graph: %w; after attempt %d of %d: %w", stopped, attempt, limits.Attempts, err)
		}
	}
}

// end is how an attempt has ended.
type end uint8

const (
	failed  end = iota // nothing was written
	final              // nothing was written, and a retry cannot help
	unknown            // COMMIT was sent and not answered
	committed
)

// attempt writes the rows in one transaction. On an error, and on a panic, it rolls back, unless
// the outcome of COMMIT is unknown.
func (w *writer) attempt() (end end, err error) {
	if err := w.giveKeys(false); err != nil { // before BEGIN: a source that fails costs no transaction
		return final, err
	}
	batches, err := w.batches()
	if err != nil {
		return final, err
	}
	if err := w.begin(); err != nil {
		return failed, err
	}
	defer func() {
		if end < unknown {
			err = w.rollBack(err)
		}
	}()
	err = w.writeBatches(batches)
	w.conn.remember(err) // conn does not see errors of reading rows
	if lost := w.conn.conflict(); lost != nil && !errors.Is(err, lost) {
		err = fmt.Errorf("graph: %w", errors.Join(lost, err)) // a hook has hidden it
	}
	if err != nil {
		return failed, err
	}
	if err := w.ctx.Err(); err != nil {
		return failed, fmt.Errorf("graph: before COMMIT: %w", err)
	}
	if w.commit == nil {
		return committed, nil
	}
	switch err := w.commit(); {
	case err == nil:
		return committed, nil
	case !isRefused(err):
		return unknown, fmt.Errorf("graph: %w: %w", sqltype.ErrOutcomeUnknown, err)
	case w.db.Name() == "sqlite": // its driver returns the connection with the transaction open
		return final, fmt.Errorf("graph: COMMIT: %w", err)
	default:
		return failed, fmt.Errorf("graph: COMMIT: %w", err)
	}
}
