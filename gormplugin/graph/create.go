// Package graph writes gorm models together with all rows that refer to each other: an order with
// its customer, its lines and their products, in one transaction with one INSERT for each table.
// The handle needs the plugin of package [github.com/seed-299c1d6b/snowkey/gormplugin].
//
//	order := &Order{
//		Customer: &Customer{Name: "Ann"},
//		Lines:    []Line{{SKU: "a", Quantity: 2}, {SKU: "b", Quantity: 1}},
//	}
//	if err := graph.Create(ctx, db, order); err != nil {
//		return err // nothing was written, and order is what it was
//	}
//	fmt.Println(order.ID, order.Lines[1].OrderID) // equal
//
// The graph is all rows that belongs-to, has-one, has-many, many2many and polymorphic relations
// reach, to any depth. A row that is reached twice is one row, and is written after those it refers to.
// Hooks, times, default values, serializers, prepared statements, DryRun and clauses work as in
// gorm's Create. Parents and the far sides of many2many are written in the order of their unique
// columns, so that concurrent creates rarely deadlock.
//
// # Limits
//
//   - BeforeCreate of a row runs after its parents are written: its changes to them are lost.
//     AfterCreate runs before the children are written. A hook that adds or removes associated rows,
//     or changes a key to which rows of the same INSERT refer, is an error.
//   - A trigger that drops rows is an error; INSTEAD OF triggers of SQLite count as such. One that
//     changes keys is seen only in models with integer keys and defaults of the database, not in MySQL.
//   - Parents, and far sides of many2many, whose keys are set may be shared with other goroutines.
//     They are not restored: a failed create undoes only the foreign keys that it set in them.
//   - The plugin dbresolver must route all tables of a graph to one database.
//   - Select, Omit and conflict clauses apply to the given rows, and must be set on the handle.
//   - In a transaction of the caller, nothing is retried, and a rollback leaves the keys set.
//
// The code reads in this order: create, graph, model, assign, order, write, transaction.
package graph

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/keys"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/outcome"
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

// Result is what [CreateWith] has written.
type Result struct {
	RowsAffected int64         // of the rows that were given, as gorm counts them
	Tables       []TableResult // in the order in which they were written, with join tables
	Statements   []Statement   // of a DryRun handle, which leaves the rows as they are: what would be sent between BEGIN and COMMIT; else nil
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
// error it rolls back, and new rows are what they were before, unless the error wraps
// [sqltype.ErrOutcomeUnknown]: then create the same value again, with
// clause.OnConflict{DoNothing: true} on the handle. After a deadlock or a serialization failure it
// begins again, with new keys; all hooks run again. In the caller's transaction it sets a
// savepoint, and retries nothing.
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
	var wrong fields.Errors
	if cfg.BatchSize < 0 {
		wrong.Add("BatchSize", cfg.BatchSize, "must not be negative")
	}
	limits := retry.Limits{Attempts: cfg.Attempts, Backoff: cfg.Backoff, MaxBackoff: cfg.MaxBackoff}.Validate(&wrong)
	if err := wrong.Err("graph"); err != nil {
		return Result{}, err
	}
	g, err := newGraph(ctx, db, value, true)
	if err != nil {
		return Result{}, err
	}
	if len(g.nodes) == 0 {
		return Result{}, fmt.Errorf("graph: %s: %w", keys.TypeName(reflect.TypeOf(value)), gorm.ErrEmptySlice)
	}
	w := &writer{}
	g.snapshot()
	defer func() { // also if a hook panics
		if !w.ended || g.db.DryRun {
			g.restore()
		}
	}()
	for attempt := 1; ; attempt++ {
		w = &writer{graph: g, batchSize: cfg.BatchSize}
		err := w.attempt()
		if err == nil {
			return w.result, nil
		}
		if attempt == limits.Attempts || !w.mayRetry || !isConflict(err) {
			if attempt > 1 {
				err = fmt.Errorf("%w (attempt %d of %d)", err, attempt, limits.Attempts)
			}
			return Result{}, err
		}
		g.restore()
		if stopped := limits.Wait(g.ctx, attempt); stopped != nil {
			return Result{}, fmt.Errorf("graph: %w; after attempt %d of %d: %w", stopped, attempt, limits.Attempts, err)
		}
	}
}

// attempt writes the rows in one transaction. On an error, and on a panic, it rolls back, unless
// the outcome of COMMIT is unknown.
func (w *writer) attempt() (err error) {
	if err := w.giveKeys(false); err != nil { // before BEGIN: a source that fails costs no transaction
		return err
	}
	batches, err := w.batches()
	if err != nil {
		return err
	}
	_, nested := w.db.Statement.ConnPool.(gorm.TxCommitter)
	w.ownTx = !nested && !w.db.DryRun
	w.mayRetry = w.ownTx // only the caller can repeat its own writes
	if err := w.begin(batches); err != nil {
		return err
	}
	defer func() {
		if !w.ended {
			err = w.rollBack(err)
		}
	}()
	err = w.writeBatches(batches)
	w.conn.remember(err) // conn does not see errors of reading rows
	switch lost := w.conn.conflict(); {
	case lost != nil && !errors.Is(err, lost): // a hook has hidden it
		return fmt.Errorf("graph: %w", errors.Join(lost, err))
	case err != nil:
		return err
	case w.ctx.Err() != nil:
		return fmt.Errorf("graph: before COMMIT: %w", w.ctx.Err())
	}
	switch err = w.commit(); {
	case err == nil:
		w.ended = true
		return nil
	case !w.ownTx:
		return fmt.Errorf("graph: RELEASE SAVEPOINT: %w", err)
	case !outcome.IsRefused(err):
		w.ended, w.mayRetry = true, false
		return fmt.Errorf("graph: %w: %w", sqltype.ErrOutcomeUnknown, err)
	}
	w.mayRetry = w.db.Name() != "sqlite" // its driver returns the connection with the transaction open
	return fmt.Errorf("graph: COMMIT: %w", err)
}
