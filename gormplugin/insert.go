package gormplugin

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"

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
	BatchSize int  // rows of one INSERT; zero: 1000, or gorm's CreateBatchSize; fewer where the database's parameters do not suffice
	KeepKeys  bool // keys and foreign keys stay set when the create fails
}

// Result is what [CreateWith] has written.
type Result struct {
	RowsAffected int64         // of the rows that were given, as gorm counts them
	Tables       []TableResult // in the order in which they were written, join tables too
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
// after those that they refer to, join rows after both sides; where that cannot be, the
// error is a [*CycleError]. Tables that refer to each other are parted into as
// many INSERTs as the rows need.
//
// What gorm does for a row, it does here: hooks (unless the handle has
// SkipHooks), times, default values, serializers, prepared statements, DryRun,
// FullSaveAssociations; callbacks of other plugins run once for each INSERT. Select, Omit and
// clauses on db hold for the rows given, and Select("Lines.SKU") for their
// lines, as in gorm's Create. Conditions of a scope hold too, but no Select or
// Omit in one.
//
// A row whose key was set before is an existing one to gorm: what others belong to and the
// far side of a many2many is left as it is if it exists, and a detail is
// moved to its master. A row with a new key is inserted. If what another belongs to, or the far side
// of a many2many, has a declared unique index and collides there, it is taken to be the row that
// exists: the struct gets its key, and so do the foreign keys.
//
// BeforeSave and BeforeCreate run before what a row belongs to is written, and
// may change rows and add more. AfterCreate and AfterSave run
// when everything is written, those of details before those of their masters.
//
// # Failure
//
// On any error the transaction is rolled back, and the keys and foreign keys that
// were set by this call are set back. A hook that panics does the same, and goes on
// panicking. Only once COMMIT was sent and no answer came do the keys stay, and
// the error wraps [ErrOutcomeUnknown].
//
// In a transaction of the caller's, Create sets a savepoint and returns to it on
// an error, so that the caller may go on; the caller commits, and if he rolls
// back instead, the rows keep keys that are not in the database. With
// DisableNestedTransaction there is no savepoint, and the caller must roll back.
// SkipDefaultTransaction is not for Create: it has a transaction always. On a DryRun
// handle the statements are built and none is sent, BEGIN included, and the keys stay.
func Create(ctx context.Context, db *gorm.DB, value any) error {
	_, err := CreateWith(ctx, db, value, CreateConfig{})
	return err
}

// CreateWith is [Create] with options, and tells what was written. On an error
// the Result is zero.
func CreateWith(ctx context.Context, db *gorm.DB, value any, cfg CreateConfig) (Result, error) {
	if cfg.BatchSize < 0 {
		return Result{}, fmt.Errorf("gormplugin: CreateConfig.BatchSize %d: must not be negative", cfg.BatchSize)
	}
	g, err := newGraph(ctx, db, value)
	if err != nil {
		return Result{}, err
	}
	if len(g.starts) == 0 {
		return Result{}, fmt.Errorf("gormplugin: %T: %w", value, gorm.ErrEmptySlice)
	}
	stmt := g.db.Statement
	g.joins = true
	g.special = stmt.Table != "" || stmt.Model != nil || len(stmt.Clauses) > 0 || len(stmt.Selects) > 0 || len(stmt.Omits) > 0 || stmt.Unscoped || hasScopes(stmt)
	w := &writer{graph: g, cfg: cfg, tables: map[string]int{}}
	err = w.run()
	if err != nil {
		return Result{}, err
	}
	return w.result, nil
}

// writer writes one graph.
type writer struct {
	*graph
	cfg    CreateConfig
	tx     *gorm.DB
	done   []*chain // written, and their hooks for afterwards still to run
	open   []*chain // begun
	result Result
	tables map[string]int
}

// run writes in a transaction. On an error, and on a panic, nothing stays.
func (w *writer) run() (err error) {
	keep := w.cfg.KeepKeys
	failed := true
	defer func() {
		w.stop()
		if failed && !keep {
			w.undo.restore()
		}
	}()
	if err := w.assignAll(); err != nil { // first: a source that fails costs no transaction
		return err
	}
	batches, err := w.schedule()
	if err != nil {
		return err
	}
	tx, end, err := w.begin()
	if err != nil {
		return err
	}
	w.tx = tx
	defer func() {
		if failed && end.rollback != nil {
			if e := end.rollback(); e != nil && err != nil {
				err = fmt.Errorf("%w; and the rollback: %w", err, e)
			}
		}
	}()
	if err := w.writeAll(batches); err != nil {
		return err
	}
	if err := w.ctx.Err(); err != nil {
		return fmt.Errorf("gormplugin: before COMMIT: %w", err)
	}
	if end.commit != nil {
		if err := end.commit(); err != nil {
			if isRefused(w.db.Name(), err) {
				return fmt.Errorf("gormplugin: COMMIT: %w", err)
			}
			keep, end.rollback = true, nil
			return fmt.Errorf("gormplugin: %w: %w", ErrOutcomeUnknown, err)
		}
	}
	failed = false
	return nil
}

// ending is how a transaction ends. A nil function does nothing.
type ending struct{ commit, rollback func() error }

func (w *writer) begin() (*gorm.DB, ending, error) {
	if w.db.DryRun {
		return w.db, ending{}, nil
	}
	if _, nested := w.db.Statement.ConnPool.(gorm.TxCommitter); nested {
		if w.db.DisableNestedTransaction {
			return w.db, ending{}, nil
		}
		name := fmt.Sprintf("snowkey%016x", rand.Uint64())
		side := func() *gorm.DB {
			return w.db.Session(&gorm.Session{NewDB: true, Context: context.WithoutCancel(w.ctx)})
		}
		if err := side().SavePoint(name).Error; err != nil {
			return nil, ending{}, fmt.Errorf("gormplugin: SAVEPOINT: %w", err)
		}
		return w.db, ending{rollback: func() error { return side().RollbackTo(name).Error }}, nil
	}
	tx := w.db.Begin()
	if tx.Error != nil {
		return nil, ending{}, fmt.Errorf("gormplugin: BEGIN: %w", tx.Error)
	}
	pool, ok := tx.Statement.ConnPool.(gorm.TxCommitter)
	if !ok {
		return nil, ending{}, fmt.Errorf("gormplugin: BEGIN: %T is no transaction: %w", tx.Statement.ConnPool, gorm.ErrInvalidTransaction)
	}
	return tx, ending{commit: pool.Commit, rollback: func() error {
		if err := pool.Rollback(); !errors.Is(err, sql.ErrTxDone) { // done: the context did it
			return err
		}
		return nil
	}}, nil
}

// hasScopes reports whether the statement has scopes still to be called. gorm
// tells nobody.
func hasScopes(stmt *gorm.Statement) bool {
	scopes := reflect.ValueOf(stmt).Elem().FieldByName("scopes")
	return scopes.IsValid() && scopes.Kind() == reflect.Slice && scopes.Len() > 0
}

// isRefused reports whether the error of a COMMIT says that nothing was
// committed: the server refused it, or it was never sent.
func isRefused(dialect string, err error) bool {
	if errors.Is(err, sql.ErrTxDone) {
		return true
	}
	var state interface{ SQLState() string }
	if errors.As(err, &state) {
		s := state.SQLState()
		// A connection that ends in the middle of it says nothing: 08 and 57P.
		return len(s) == 5 && s[:2] != "08" && s[:3] != "57P" && s != "40003"
	}
	var code interface{ Code() int }
	if dialect == "sqlite" && errors.As(err, &code) {
		const busy, constraint = 5, 19
		return code.Code()&0xff == busy || code.Code()&0xff == constraint
	}
	return false
}

// writeAll writes batch after batch. Hooks may change the graph, and then the
// rest is put in order anew.
func (w *writer) writeAll(batches []*batch) (err error) {
	for len(batches) > 0 {
		b := batches[0]
		hooked, err := w.beginBatch(b, batches[1:])
		if err != nil {
			return err
		}
		if hooked {
			if err := w.assignAll(); err != nil {
				return err
			}
			if batches, err = w.schedule(); err != nil {
				return err
			}
			continue
		}
		if w.moved {
			if err := w.copyKeys(); err != nil {
				return err
			}
		}
		if err := w.writeBatch(b); err != nil {
			return err
		}
		batches = batches[1:]
	}
	for _, c := range slices.Backward(w.done) {
		if err := c.finish(); err != nil {
			return err
		}
	}
	return nil
}

// beginBatch runs the hooks of a batch, and before them those of the rows that
// belong to it, if they could be written as far as their masters are concerned.
func (w *writer) beginBatch(b *batch, later []*batch) (hooked bool, err error) {
	if b.chains != nil {
		return false, nil
	}
	for _, c := range later {
		if c.chains != nil || !c.shape.hasBefore(w.db) || !w.belongsTo(c, b) || w.waitsForMaster(c) {
			continue
		}
		if hooked, err = w.beginBatch(c, nil); err != nil {
			return hooked, err
		}
	}
	if !b.shape.hasHooks(w.db) {
		return hooked, nil
	}
	for _, rows := range w.chunks(b) {
		c := w.newChain(b, rows)
		b.chains = append(b.chains, c)
		for _, n := range rows {
			n.state, n.batch = begun, b
		}
		if err := c.begin(); err != nil {
			return true, err
		}
	}
	return hooked || b.shape.hasBefore(w.db), nil
}

// belongsTo reports whether a row of c refers to one of b by a relation of its own.
func (w *writer) belongsTo(c, b *batch) bool {
	for i := range w.edges {
		if e := &w.edges[i]; e.belongs && e.child.group != nil && e.parent.group != nil && e.child.group.id == c.id && e.parent.group.id == b.id {
			return true
		}
	}
	return false
}

// waitsForMaster reports whether a master of the batch's rows is not written yet.
func (w *writer) waitsForMaster(c *batch) bool {
	for i := range w.edges {
		if e := &w.edges[i]; !e.belongs && e.child.group != nil && e.child.group.id == c.id && e.parent.state != written && e.parent.role != isLeftOut {
			return true
		}
	}
	return false
}

func (w *writer) writeBatch(b *batch) error {
	chains := b.chains
	if chains == nil {
		for _, rows := range w.chunks(b) {
			chains = append(chains, w.newChain(b, rows))
		}
	}
	for _, c := range chains {
		if err := c.write(); err != nil {
			return err
		}
		w.count1(b, c)
		for _, n := range c.rows {
			n.state = written
		}
		w.moved = w.moved || b.shape.late
	}
	return nil
}

// count1 adds what a statement has written to the result.
func (w *writer) count1(b *batch, c *chain) {
	if c.given {
		w.result.RowsAffected += c.affected()
	} else {
		for _, n := range c.rows {
			if n.role == isRoot {
				w.result.RowsAffected++ // a plain INSERT, of other rows as well
			}
		}
	}
	table := b.shape.schema.Table
	if stmt := w.db.Statement; c.given && stmt.Table != "" {
		table = stmt.Table
	}
	at, known := w.tables[table]
	if !known {
		at = len(w.result.Tables)
		w.tables[table] = at
		w.result.Tables = append(w.result.Tables, TableResult{Table: table})
	}
	w.result.Tables[at].Inserts++
	w.result.Tables[at].RowsAffected += c.affected()
}

// chunks parts a batch by the number of rows and of parameters.
func (w *writer) chunks(b *batch) [][]*node {
	size := w.cfg.BatchSize
	if size == 0 {
		size = w.db.CreateBatchSize
	}
	if size <= 0 {
		size = 1000
	}
	const spare = 64 // for what an upsert adds
	size = min(size, max(1, (maxParameters(w.db.Name())-spare)/max(1, b.shape.columns)))
	return slices.Collect(slices.Chunk(b.rows, size))
}

// maxParameters is how many the database takes in one statement.
func maxParameters(dialect string) int {
	switch dialect {
	case "postgres", "mysql":
		return 65535
	case "sqlserver":
		return 2100
	}
	return 32766 // SQLite's, and likely enough for others
}

// stop ends what was begun and will not be written.
func (w *writer) stop() {
	for _, c := range w.open {
		c.stop()
	}
}
