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
)

// ErrOutcomeUnknown is wrapped by the error of a [Create] that sent COMMIT and got no answer: the
// connection was lost, or the context was done. The rows may be in the database. They keep their
// keys, so the same value can be created again: with clause.OnConflict{DoNothing: true} on the
// handle, rows that exist stay as they are.
var ErrOutcomeUnknown = errors.New("the outcome of COMMIT is unknown")

// Config configures [CreateWith]. The zero value is ready for use; [Create] uses it.
type Config struct {
	BatchSize int // rows of one INSERT; zero: gorm's CreateBatchSize, or as many as are fast; fewer where the database limits parameters or bytes

	// KeepKeys leaves keys and foreign keys set if the create fails. The next create treats
	// them like keys that the caller has set: such a row is an existing one to gorm, and a
	// parent, or the far side of a many2many, that collides in a unique index does not get the
	// key of the existing row.
	KeepKeys bool

	Attempts   int           // at most, including the first; 1: no retry; zero: 5
	Backoff    time.Duration // the longest pause after the first attempt, doubled after each; pauses are random, at least half of that; zero: 10ms
	MaxBackoff time.Duration // the longest pause; zero: 1s
}

func (cfg *Config) validate() error {
	var wrong fields.Errors
	if cfg.BatchSize < 0 {
		wrong.Add("BatchSize", cfg.BatchSize, "must not be negative")
	}
	limits := cfg.limits().Validate(&wrong)
	cfg.Attempts, cfg.Backoff, cfg.MaxBackoff = limits.Attempts, limits.Backoff, limits.MaxBackoff
	return wrong.Err("graph")
}

func (cfg *Config) limits() retry.Limits {
	return retry.Limits{Attempts: cfg.Attempts, Backoff: cfg.Backoff, MaxBackoff: cfg.MaxBackoff}
}

// Result is what [CreateWith] has written.
type Result struct {
	RowsAffected int64         // of the rows that were given, as gorm counts them
	Tables       []TableResult // in the order in which they were written, with join tables
	Statements   []Statement   // of a DryRun handle: what would be sent between BEGIN and COMMIT; else nil
}

// Statement is a statement that was built and not sent. The Explain method of a handle's
// Dialector makes one text of it.
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
// transaction, with one INSERT of many rows for each table: parents first, join rows last. On
// any error the transaction is rolled back, and the keys that this call has set are reset, unless
// the error wraps [ErrOutcomeUnknown].
//
// Create begins a new transaction, with the same keys, after a deadlock or a serialization
// failure. All hooks then run again. In a transaction of the caller, it sets a savepoint and
// retries nothing.
//
// A row whose key was set before is an existing one, as in gorm: a parent, or the far side of a
// many2many, is left as it is if it exists, and a child moves to its new parent. A parent with a
// new key that collides in a unique index is taken to be the existing row: its struct gets that
// row's key, and so do the foreign keys. A given row or a child that collides is an error.
//
// Rows that refer to each other in a cycle need a foreign key in it that may be NULL; else the
// error is a [*CycleError].
func Create(ctx context.Context, db *gorm.DB, value any) error {
	_, err := CreateWith(ctx, db, value, Config{})
	return err
}

// CreateWith is [Create] with options, and reports what was written. On an error the Result is
// zero. A wrong Config is a *core.ConfigError with all faults.
func CreateWith(ctx context.Context, db *gorm.DB, value any, cfg Config) (Result, error) {
	if err := cfg.validate(); err != nil {
		return Result{}, err
	}
	g, err := newGraph(ctx, db, value)
	if err != nil {
		return Result{}, err
	}
	defer g.end()
	if len(g.roots) == 0 {
		return Result{}, fmt.Errorf("graph: %s: %w", keys.TypeName(reflect.TypeOf(value)), gorm.ErrEmptySlice)
	}
	stmt := g.db.Statement
	g.joins = true
	g.customRoots = stmt.Table != "" || stmt.Model != nil || len(stmt.Clauses) > 0 || len(stmt.Selects) > 0 || len(stmt.Omits) > 0 || stmt.Unscoped || hasScopes(stmt)
	return g.write(cfg)
}

// hasScopes reports whether the statement has scopes that have not run. gorm does not export
// that.
func hasScopes(stmt *gorm.Statement) bool {
	scopes := reflect.ValueOf(stmt).Elem().FieldByName("scopes")
	return scopes.IsValid() && scopes.Kind() == reflect.Slice && scopes.Len() > 0
}
