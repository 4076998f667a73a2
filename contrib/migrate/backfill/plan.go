package backfill

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate/internal/live"
	"github.com/seed-299c1d6b/snowkey/ddl"
)

// A Plan is what Run would do. Table names include the schema if the database has schemas.
type Plan struct {
	Table, Key, CreatedAt string
	Column                string // the column for the ids
	Adds                  bool   // Column is missing, and Run adds it
	Rows                  int64  // rows without an id
	Oldest, Newest        time.Time
	References            []Reference
}

// A Reference is a column that refers to the key, with the column that gets the ids of those rows.
type Reference struct {
	Table, Column string
	NewColumn     string
	Adds          bool  // NewColumn is missing, and Run adds it
	Indexed       bool  // an index begins with Column; if not, Run fills NewColumn at the end, in one statement
	Rows          int64 // rows with a value in Column and no id in NewColumn
}

// job is a backfill of one column.
type job struct {
	cfg   Config
	db    database
	table *table
	key   *column
	times timeColumn
	into  *target
	refs  []*target
}

// A target is a column that gets ids, and one that has the keys of the rows they belong to: the key
// itself, or one that refers to it.
type target struct {
	table    *table
	from, to string
	adds     bool
	indexed  bool // an index begins with from
}

// unset is the condition for rows without an id. alias is their table's alias with a dot, or empty.
func (j *job) unset(t *target, alias string) string {
	if t.adds {
		return "1 = 1"
	}
	to := alias + j.db.quote(t.to)
	return "(" + to + " IS NULL OR " + to + " = 0)"
}

// Inspect reports what Run would do. It writes nothing and claims no worker ID. It returns the same
// errors as Run.
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
	j := &job{cfg: cfg, db: database{DB: pool, dialect: cfg.Dialect}}
	db := j.db
	schema, name := live.SplitTable(cfg.Table)
	var err error
	if j.table, err = db.findTable(ctx, "Table", schema, name); err != nil {
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
	return j, j.refuseTriggers(ctx)
}

// target checks the column that gets ids.
func (j *job) target(field string, t *table, from, to string) (*target, error) {
	none := func(format string, args ...any) (*target, error) {
		return nil, live.Error("backfill", field, to, format, args...)
	}
	if reason := live.BadName(to); reason != "" {
		return none("%s", reason)
	}
	c := t.column(to)
	switch {
	case c == nil && t.fixed != "":
		return none("cannot be added to %s, which is %s", t, t.fixed)
	case c == nil:
		return &target{table: t, from: from, to: to, adds: true}, nil
	}
	wide := strings.HasPrefix(c.typ, "bigint")
	if j.db.dialect == ddl.SQLite {
		wide = strings.Contains(c.typ, "int")
	}
	switch {
	case c.name == from || c.name == j.key.name && t == j.table:
		return none("is the key itself: the ids need another column, which you swap with the key afterwards")
	case strings.EqualFold(c.name, j.cfg.CreatedAt) && t == j.table:
		return none("is the column with the creation times")
	case !wide:
		return none("has the type %s in %s: must be bigint", c.typ, t)
	}
	return &target{table: t, from: from, to: c.name}, nil
}

// plan counts the rows, and finds those without a time.
func (j *job) plan(ctx context.Context) (Plan, error) {
	p := Plan{
		Table: j.table.String(), Key: j.key.name, CreatedAt: j.cfg.CreatedAt, Column: j.into.to, Adds: j.into.adds,
	}
	var err error
	if p.Rows, err = j.countLeft(ctx); err != nil {
		return p, err
	}
	for _, ref := range j.refs {
		r := Reference{Table: ref.table.String(), Column: ref.from, NewColumn: ref.to, Adds: ref.adds, Indexed: ref.indexed}
		if r.Rows, err = j.countReferring(ctx, ref); err != nil {
			return p, err
		}
		p.References = append(p.References, r)
	}
	if err := j.rejectNull(ctx); err != nil {
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

// countLeft counts the rows without an id.
func (j *job) countLeft(ctx context.Context) (int64, error) {
	return j.db.count(ctx, "count the rows of "+j.table.String(),
		"SELECT count(*) FROM "+j.table.of(j.db)+" WHERE "+j.unset(j.into, ""))
}

// rejectNull returns a *RowError if a row without an id has no time, or no key, as SQLite allows.
func (j *job) rejectNull(ctx context.Context) error {
	for _, c := range []struct{ name, expr, value string }{
		{j.key.name, j.db.quote(j.key.name), "NULL"}, {j.cfg.CreatedAt, j.times.expr, "NULL or not a time"},
	} {
		rows, err := j.rows(ctx, "("+c.expr+") IS NULL AND "+j.unset(j.into, "")+" LIMIT 1")
		switch {
		case err != nil:
			return fmt.Errorf("backfill: look for rows of %s without %s: %w", j.table, c.name, err)
		case len(rows) > 0:
			return &RowError{j.table.String(), c.name, keyText(rows[0].key), c.value, "set it first"}
		}
	}
	return nil
}

// targets returns the columns that are written.
func (j *job) targets() []*target { return append([]*target{j.into}, j.refs...) }

// refuseTriggers returns an error that names the triggers that would fire for what is filled.
func (j *job) refuseTriggers(ctx context.Context) error {
	var found []string
	for _, t := range j.targets() {
		args := j.db.args(t.table.schema, t.table.name)
		if j.db.dialect == ddl.Postgres {
			args = append(args, t.to)
		}
		names, err := query(ctx, j.db, scanName, catalogOf(j.db.dialect).triggers, args...)
		if err != nil {
			return fmt.Errorf("backfill: look for triggers of %s: %w", t.table, err)
		}
		for _, name := range names {
			found = append(found, name+" of "+t.table.String())
		}
	}
	if len(found) == 0 || j.cfg.FireTriggers {
		return nil
	}
	slices.Sort(found)
	return live.Error("backfill", "FireTriggers", false, "the UPDATE trigger %s would fire for each row that is filled. "+
		"Drop or disable it for the time of the backfill, or let it fire", strings.Join(slices.Compact(found), ", "))
}

// addColumns adds the columns that are missing.
func (j *job) addColumns(ctx context.Context) error {
	integer := "bigint"
	if j.db.dialect == ddl.SQLite {
		integer = "integer" // the only name for it in STRICT tables
	}
	for _, t := range j.targets() {
		if !t.adds {
			continue
		}
		text := "ALTER TABLE " + t.table.of(j.db) + " ADD COLUMN " + j.db.quote(t.to) + " " + integer
		if _, err := j.db.ExecContext(ctx, text); err != nil {
			return fmt.Errorf("backfill: add a column by %s: %w", text, err)
		}
		t.adds = false
	}
	return nil
}
