package gormplugin

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"gorm.io/gorm"
)

// ErrOutcomeUnknown is wrapped by the error of a [Create] that sent its COMMIT and
// did not learn what became of it: the connection broke, or the context was
// done meanwhile. The rows keep the keys under which they may have been written,
// so the same value can be created again: with clause.OnConflict{DoNothing: true}
// on the handle, rows that are there already stay as they are.
var ErrOutcomeUnknown = errors.New("the outcome of COMMIT is unknown")

// CreateConfig says how [CreateWith] writes. The zero value is what [Create] does.
type CreateConfig struct {
	BatchSize int // rows of one INSERT; zero: 1000, or gorm's CreateBatchSize; fewer where the database's parameters do not suffice

	// KeepKeys leaves keys and foreign keys set when the create fails. To the next create
	// a kept key is one that the caller set: such a row is an existing one to gorm, and
	// what another belongs to, or the far side of a many2many, no longer gets the key of a
	// row with which it collides by a unique index.
	KeepKeys bool

	Attempts   int           // zero: 5, the first included; 1: none is repeated; see Create
	Backoff    time.Duration // zero: 10ms; the pause after the first attempt, doubled after each; a random part of it, at least half, is waited
	MaxBackoff time.Duration // zero: 1s; no pause is longer
}

// Result is what [CreateWith] has written.
type Result struct {
	RowsAffected int64         // of the rows that were given, as gorm counts them
	Tables       []TableResult // in the order in which they were written, join tables too
	Statements   []Statement   // of a DryRun handle: what would be sent between BEGIN and COMMIT; else nil
}

// Statement is one that was built and not sent. The Explain of a handle's Dialector makes one text of it.
type Statement struct {
	SQL  string
	Vars []any // of its placeholders
}

// TableResult is what was written to one table.
type TableResult struct {
	Table        string
	Inserts      int   // how many statements
	RowsAffected int64 // as the database counts them
}

// Create gives the rows of a graph their keys, as [Assign] does, and writes them
// in one transaction: one INSERT of many rows for each table, in chunks of at most
// 1,000 rows and of as many parameters as the database takes. Rows come
// after those that they refer to, join rows after both sides. Tables that refer to each
// other are parted into as many INSERTs as the rows need.
//
// Where rows refer to each other in a circle, one of the references is NULL in the INSERT, and
// one UPDATE for each such row sets it when all rows are there. That takes a foreign key that may be
// NULL: a pointer, a [sqltype.NullID], or another type whose zero value is NULL, not tagged not null.
// Without one in the circle the error is a [*CycleError]. The UPDATE changes nothing but NULL: a row
// that exists keeps what it refers to.
//
// What gorm does for a row, it does here: hooks (unless the handle has
// SkipHooks), times, default values, serializers, prepared statements, DryRun,
// FullSaveAssociations; callbacks of other plugins run once for each INSERT. Select, Omit and
// clauses on db hold for the rows given, and Select("Lines.SKU") for their
// lines, as in gorm's Create. The clauses of a scope hold too; a Select or Omit
// in a scope is an error.
//
// A row whose key was set before is an existing one to gorm: what others belong to and the
// far side of a many2many is left as it is if it exists, and a detail is
// moved to its master. A row with a new key is inserted. If what another belongs to, or the far side
// of a many2many, collides there by a unique index, declared or not, it is taken to be the row that
// exists: the struct gets its key, and so do the foreign keys. Where that row cannot be found (see
// Upserts in the package comment), or the database makes the key, the create fails. A given row
// or a detail that collides is an error.
//
// BeforeSave and BeforeCreate run before what a row belongs to is written, and
// may change rows and add more. AfterCreate and AfterSave run
// when everything is written, those of details before those of their masters.
//
// # Order
//
// Keys ascend, and the given rows and details are written, in the order of the structs. What others
// belong to and the far sides of many2many are written, and their hooks called, in the order of
// their declared unique columns, and of their keys where the caller has set those: creates that meet the
// same rows in opposite orders then rarely deadlock. Where no unique column is declared, their
// order is kept in the first attempt, and after a deadlock they are in that of their columns.
//
// # Failure
//
// On any error the transaction is rolled back, and the keys and foreign keys that
// were set by this call are set back. A hook that panics does the same, and goes on
// panicking. Only once COMMIT was sent and no answer came do the keys stay, and
// the error wraps [ErrOutcomeUnknown].
//
// A transaction that lost to another is begun anew, with the same keys, after a pause: up to
// five in all, or as [CreateConfig] says. That is a deadlock or a serialization failure of PostgreSQL
// (SQLSTATE 40P01, 40001), the errors 1213, 1020 and 3101 of MySQL and MariaDB, and
// BUSY or LOCKED of SQLite before COMMIT. The rows are first set back to what they were before the
// first attempt, field by field, and all hooks run again: what a hook does outside the transaction and
// the rows, it does once more, and what a pointer, a map or a slice of its own leads to keeps its
// changes. No other error is retried, such as a lock that was waited for in vain (1205, 55P03) or
// [ErrOutcomeUnknown].
//
// In a transaction of the caller's, Create sets a savepoint and returns to it on
// an error, so that the caller may go on; the caller commits, and if he rolls
// back instead, the rows keep keys that are not in the database. Nothing is retried there, for
// what the caller wrote before is lost as well. With
// DisableNestedTransaction there is no savepoint, and the caller must roll back.
// SkipDefaultTransaction is not for Create: it has a transaction always. On a DryRun
// handle the statements are built and none is sent, BEGIN included, and the keys stay;
// [Result] has the statements.
func Create(ctx context.Context, db *gorm.DB, value any) error {
	_, err := CreateWith(ctx, db, value, CreateConfig{})
	return err
}

// CreateWith is [Create] with options, and tells what was written. On an error
// the Result is zero.
func CreateWith(ctx context.Context, db *gorm.DB, value any, cfg CreateConfig) (Result, error) {
	if err := cfg.check(); err != nil {
		return Result{}, err
	}
	g, err := newGraph(ctx, db, value)
	if err != nil {
		return Result{}, err
	}
	defer g.end()
	if len(g.starts) == 0 {
		return Result{}, fmt.Errorf("gormplugin: %s: %w", valueType(value), gorm.ErrEmptySlice)
	}
	stmt := g.db.Statement
	g.joins = true
	g.special = stmt.Table != "" || stmt.Model != nil || len(stmt.Clauses) > 0 || len(stmt.Selects) > 0 || len(stmt.Omits) > 0 || stmt.Unscoped || hasScopes(stmt)
	return g.write(cfg)
}

func (cfg *CreateConfig) check() error {
	var faults []error
	negative := func(name string, value any) {
		faults = append(faults, fmt.Errorf("CreateConfig.%s %v: must not be negative", name, value))
	}
	if cfg.BatchSize < 0 {
		negative("BatchSize", cfg.BatchSize)
	}
	if cfg.Attempts < 0 {
		negative("Attempts", cfg.Attempts)
	}
	if cfg.Backoff < 0 {
		negative("Backoff", cfg.Backoff)
	}
	if cfg.MaxBackoff < 0 {
		negative("MaxBackoff", cfg.MaxBackoff)
	}
	if len(faults) > 0 {
		return fmt.Errorf("gormplugin: %w", errors.Join(faults...))
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
	return nil
}

// hasScopes reports whether the statement has scopes still to be called. gorm
// tells nobody.
func hasScopes(stmt *gorm.Statement) bool {
	scopes := reflect.ValueOf(stmt).Elem().FieldByName("scopes")
	return scopes.IsValid() && scopes.Kind() == reflect.Slice && scopes.Len() > 0
}
