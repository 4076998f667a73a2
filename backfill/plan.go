package backfill

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/internal/fields"
)

// A Plan is what Run would do. Tables have their schema, if the database has schemas.
type Plan struct {
	Table, Key, CreatedAt string
	Column                string // gets the ids
	Adds                  bool   // Column is missing, and will be added
	Rows                  int64  // without an id
	Oldest, Newest        time.Time
	References            []Reference
	Resumes               bool  // an unfinished backfill of the column continues
	Worker                int64 // the worker ID of that backfill, or Config.Worker; -1: one will be claimed
}

// A Reference is a column that refers to the key, and one that gets the ids of the rows it
// refers to.
type Reference struct {
	Table, Column string
	NewColumn     string
	Adds          bool  // NewColumn is missing, and will be added
	Indexed       bool  // an index begins with Column; otherwise Run fills NewColumn at its end, in one statement
	Rows          int64 // that refer to a row, and have no id in NewColumn
}

// job is a backfill of one column.
type job struct {
	cfg   Config
	db    database
	table *table
	key   *column
	times timeColumn
	into  target
	refs  []target
	state state
	found bool // state is that of an unfinished backfill
}

// A target is a column that gets ids, and one that has the keys of the rows they belong to: the key
// itself, or one that refers to it.
type target struct {
	table    *table
	from, to string
	adds     bool
	indexed  bool // an index begins with from
}

// unset is the condition for rows without an id.
func (j *job) unset(t target) string {
	if t.adds {
		return "1 = 1"
	}
	to := j.db.quote(t.to)
	return "(" + to + " IS NULL OR " + to + " = 0)"
}

// Inspect says what Run would do. It writes nothing, and makes no claim. Its errors are
// those of Run.
func Inspect(ctx context.Context, db *sql.DB, cfg Config) (Plan, error) {
	j, err := inspect(ctx, db, cfg)
	if err != nil {
		return Plan{}, err
	}
	return j.plan(ctx)
}

func inspect(ctx context.Context, pool *sql.DB, cfg Config) (*job, error) {
	if err := cfg.check(pool); err != nil {
		return nil, err
	}
	j := &job{cfg: cfg, db: database{pool, cfg.Dialect}}
	db := j.db
	schema, name := splitTable(cfg.Table)
	var err error
	if j.table, err = db.find(ctx, "Table", schema, name); err != nil {
		return nil, err
	}
	if j.key, err = db.keyOf(ctx, j.table); err != nil {
		return nil, err
	}
	if j.times, err = db.timesOf(ctx, &j.cfg, j.table); err != nil {
		return nil, err
	}
	if j.cfg.Column == "" {
		j.cfg.Column = j.key.name + suffix
	}
	if j.into, err = j.target("Column", j.table, j.key.name, j.cfg.Column); err != nil {
		return nil, err
	}
	if err := j.findReferences(ctx); err != nil {
		return nil, err
	}
	if j.state, j.found, err = j.loadState(ctx); err != nil {
		return nil, err
	}
	return j, nil
}

// target checks the column that gets ids.
func (j *job) target(field string, t *table, from, to string) (target, error) {
	none := func(format string, args ...any) (target, error) {
		return target{}, fields.Error("backfill", field, to, format, args...)
	}
	if reason := badName(to); reason != "" {
		return none("%s", reason)
	}
	c := t.column(to)
	if c == nil {
		return target{table: t, from: from, to: to, adds: true}, nil
	}
	wide := strings.HasPrefix(c.typ, "bigint")
	if j.db.dialect == ddl.SQLite {
		wide = strings.Contains(c.typ, "int")
	}
	switch {
	case c.name == from || c.name == j.key.name && t == j.table:
		return none("is the key itself: ids need a column of their own, which replaces the key afterwards")
	case strings.EqualFold(c.name, j.cfg.CreatedAt) && t == j.table:
		return none("is the column with the times")
	case !wide:
		return none("has the type %s in %s: must be bigint", c.typ, t)
	}
	return target{table: t, from: from, to: c.name}, nil
}

// findReferences finds the columns that refer to the key.
func (j *job) findReferences(ctx context.Context) error {
	declared, err := j.db.referring(ctx, j.table, j.key.name)
	if err != nil {
		return err
	}
	for _, k := range declared {
		if err := j.addReference(ctx, "Table", k.schema, k.table, k.column); err != nil {
			return err
		}
	}
	for _, ref := range j.cfg.References {
		name, column, _ := cutLast(ref)
		schema, name := splitTable(name)
		if err := j.addReference(ctx, "References", schema, name, column); err != nil {
			return err
		}
	}
	return nil
}

func (j *job) addReference(ctx context.Context, field, schema, name, column string) error {
	t, err := j.db.find(ctx, field, schema, name)
	if err != nil {
		return err
	}
	c := t.column(column)
	if c == nil {
		return fields.Error("backfill", field, name+"."+column, "%s has no such column", t)
	}
	if t.schema == j.table.schema && t.name == j.table.name {
		t = j.table
		if c.name == j.key.name {
			return fields.Error("backfill", field, name+"."+column, "is the key itself")
		}
	}
	ref, err := j.target(field, t, c.name, c.name+suffix)
	if err != nil {
		return err
	}
	indexes, err := j.db.count(ctx, catalogOf(j.db.dialect).index, append(j.db.args(t.schema, t.name), c.name)...)
	if err != nil {
		return fmt.Errorf("backfill: look for indexes of %s: %w", t, err)
	}
	ref.indexed = indexes > 0
	same := func(o target) bool {
		return o.table.schema == t.schema && o.table.name == t.name && o.from == ref.from
	}
	if !slices.ContainsFunc(j.refs, same) {
		j.refs = append(j.refs, ref)
	}
	return nil
}

// plan counts the rows, and finds those without a time.
func (j *job) plan(ctx context.Context) (Plan, error) {
	p := Plan{
		Table: j.table.String(), Key: j.key.name, CreatedAt: j.cfg.CreatedAt, Column: j.into.to, Adds: j.into.adds,
		Resumes: j.found, Worker: -1,
	}
	switch {
	case j.found:
		p.Worker = j.state.worker
	case j.cfg.Worker != nil:
		p.Worker = *j.cfg.Worker
	}
	var err error
	if p.Rows, err = j.left(ctx); err != nil {
		return p, err
	}
	for _, ref := range j.refs {
		r := Reference{Table: ref.table.String(), Column: ref.from, NewColumn: ref.to, Adds: ref.adds, Indexed: ref.indexed}
		r.Rows, err = j.db.count(ctx, "SELECT count(*) FROM "+ref.table.of(j.db)+" WHERE "+j.db.quote(ref.from)+" IS NOT NULL AND "+j.unset(ref))
		if err != nil {
			return p, fmt.Errorf("backfill: count the rows of %s: %w", r.Table, err)
		}
		p.References = append(p.References, r)
	}
	if err := j.rejectTimeless(ctx); err != nil {
		return p, err
	}
	oldest, err := j.page(ctx, 1, false)
	if err != nil || len(oldest) == 0 {
		return p, err
	}
	newest, err := j.page(ctx, 1, true)
	if err != nil || len(newest) == 0 {
		return p, err
	}
	p.Oldest, p.Newest = oldest[0].made.UTC(), newest[0].made.UTC()
	return p, nil
}

// left counts the rows without an id.
func (j *job) left(ctx context.Context) (int64, error) {
	n, err := j.db.count(ctx, "SELECT count(*) FROM "+j.table.of(j.db)+" WHERE "+j.unset(j.into))
	if err != nil {
		return 0, fmt.Errorf("backfill: count the rows of %s: %w", j.table, err)
	}
	return n, nil
}

// rejectTimeless returns a *RowError if a row without an id has no time.
func (j *job) rejectTimeless(ctx context.Context) error {
	keys, err := query(ctx, j.db, func(rows *sql.Rows) (key any, err error) { return key, rows.Scan(&key) },
		"SELECT "+j.db.quote(j.key.name)+" FROM "+j.table.of(j.db)+" WHERE ("+j.times.expr+") IS NULL AND "+j.unset(j.into)+" LIMIT 1")
	switch {
	case err != nil:
		return fmt.Errorf("backfill: look for rows of %s without a time: %w", j.table, err)
	case len(keys) > 0:
		return &RowError{j.table.String(), j.cfg.CreatedAt, keyText(j.plain(keys[0])), "", "set it first"}
	}
	return nil
}
