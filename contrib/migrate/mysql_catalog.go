package migrate

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-299c1d6b/snowkey/internal/fields"
)

// The catalog of MySQL and MariaDB.

type myTable struct {
	schema, name string
	counter      int64 // the next AUTO_INCREMENT; 0: none
	columns      []myColumn
	primary      []string
	indexes      []myIndex   // without the primary key
	foreign      []myForeign // from this table
	triggers     []myTrigger
}

type myTrigger struct{ name, timing, event, body string }

type myIndex struct {
	name, kind string // the kind is BTREE or another
	unique     bool
	columns    []myPart
}

// A myPart is a column of an index.
type myPart struct {
	column     string // empty: an expression
	length     int    // of its prefix; 0: all of it
	descending bool
}

type myColumn struct {
	name, typ string // the type in lower case, without a width
	null      bool
	fallback  sql.NullString
	extra     string
	comment   string
	collation string
}

type myForeign struct {
	name, schema, table    string // of the table that refers
	column                 string
	toSchema, to, toColumn string
	columns                int
	onUpdate, onDelete     string
}

// mysql reads the catalog.
type mysql struct {
	conn interface {
		querier
		QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	}
	maria bool
}

// each runs a query, and scan for each row.
func (m mysql) each(ctx context.Context, query string, args []any, scan func(rows *sql.Rows) error) error {
	rows, err := m.conn.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (t *myTable) String() string { return t.schema + "." + t.name }

func (t *myTable) sql() string { return tick(t.schema, t.name) }

// copy and old are the names of the copy, and of the table after the swap.
func (t *myTable) copy() string { return tick(t.schema, prefix+t.name) }
func (t *myTable) old() string  { return tick(t.schema, prefix+"old_"+t.name) }

func (t *myTable) column(name string) *myColumn {
	if i := slices.IndexFunc(t.columns, func(c myColumn) bool { return strings.EqualFold(c.name, name) }); i >= 0 {
		return &t.columns[i]
	}
	return nil
}

func (t *myTable) trigger(name string) *myTrigger {
	if i := slices.IndexFunc(t.triggers, func(g myTrigger) bool { return g.name == name }); i >= 0 {
		return &t.triggers[i]
	}
	return nil
}

func (t *myTable) index(name string) *myIndex {
	if i := slices.IndexFunc(t.indexes, func(x myIndex) bool { return x.name == name }); i >= 0 {
		return &t.indexes[i]
	}
	return nil
}

// has reports whether a column is in an index.
func (i *myIndex) has(column string) bool {
	return slices.ContainsFunc(i.columns, func(p myPart) bool { return p.column == column })
}

// tick quotes names for MySQL.
func tick(names ...string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = "`" + strings.ReplaceAll(name, "`", "``") + "`"
	}
	return strings.Join(quoted, ".")
}

// text is a string constant, however the server reads backslashes.
func text(s string) string {
	if strings.ContainsAny(s, `\`) {
		return fmt.Sprintf("CONVERT(x'%x' USING utf8mb4)", s)
	}
	return "'" + strings.ReplaceAll(s, "'", "''") + "'"
}

// table reads a table that is copied, and refuses one on which that has not been tried.
func (m mysql) table(ctx context.Context, schema, name string) (*myTable, error) {
	t, err := m.read(ctx, schema, name)
	switch {
	case err != nil:
		return nil, err
	case len(prefix+"old_"+t.name) > maxName:
		return nil, refuse(t, "has a name of %d bytes: that of its copy would be too long", len(t.name))
	}
	return t, t.refuse()
}

// read reads a table, and refuses one of another kind or engine.
func (m mysql) read(ctx context.Context, schema, name string) (*myTable, error) {
	t := &myTable{}
	var kind, engine, options string
	var counter sql.NullInt64
	found := false
	err := m.each(ctx, "SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE, COALESCE(ENGINE, ''), COALESCE(CREATE_OPTIONS, ''), AUTO_INCREMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = COALESCE(NULLIF(?, ''), DATABASE()) AND TABLE_NAME = ?",
		[]any{schema, name}, func(rows *sql.Rows) error {
			found = true
			return rows.Scan(&t.schema, &t.name, &kind, &engine, &options, &counter)
		})
	if err != nil {
		return nil, fmt.Errorf("migrate: look at the table %s: %w", name, err)
	}
	t.counter = counter.Int64
	args := []any{t.schema, t.name}
	switch {
	case !found:
		return nil, fields.Error("migrate", "Table", strings.TrimPrefix(schema+"."+name, "."), "%s", errNoTable)
	case kind != "BASE TABLE":
		return nil, refuse(t, "is no ordinary table, but a %s", strings.ToLower(kind))
	case engine != "InnoDB":
		return nil, refuse(t, "is a table of the engine %s: must be InnoDB", engine)
	case strings.Contains(options, "partitioned"):
		return nil, refuse(t, "is partitioned: migrate does not support that")
	}
	err = m.each(ctx, "SELECT COLUMN_NAME, LOWER(COLUMN_TYPE), IS_NULLABLE = 'YES', COLUMN_DEFAULT, LOWER(EXTRA), COLUMN_COMMENT, COALESCE(COLLATION_NAME, '') FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? ORDER BY ORDINAL_POSITION", args, func(rows *sql.Rows) error {
		var c myColumn
		err := rows.Scan(&c.name, &c.typ, &c.null, &c.fallback, &c.extra, &c.comment, &c.collation)
		t.columns = append(t.columns, c)
		return err
	})
	if err == nil {
		err = m.each(ctx, "SELECT COLUMN_NAME FROM information_schema.KEY_COLUMN_USAGE WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? AND CONSTRAINT_NAME = 'PRIMARY' ORDER BY ORDINAL_POSITION", args, func(rows *sql.Rows) error {
			var c string
			err := rows.Scan(&c)
			t.primary = append(t.primary, c)
			return err
		})
	}
	if err == nil {
		t.foreign, err = m.foreign(ctx, "k.TABLE_SCHEMA = ? AND k.TABLE_NAME = ?", args)
	}
	if err == nil {
		err = m.each(ctx, "SELECT TRIGGER_NAME, ACTION_TIMING, EVENT_MANIPULATION, ACTION_STATEMENT FROM information_schema.TRIGGERS WHERE EVENT_OBJECT_SCHEMA = ? AND EVENT_OBJECT_TABLE = ? ORDER BY TRIGGER_NAME", args, func(rows *sql.Rows) error {
			var g myTrigger
			err := rows.Scan(&g.name, &g.timing, &g.event, &g.body)
			t.triggers = append(t.triggers, g)
			return err
		})
	}
	if err == nil {
		err = m.each(ctx, "SELECT INDEX_NAME, INDEX_TYPE, NON_UNIQUE = 0, COALESCE(COLUMN_NAME, ''), COALESCE(SUB_PART, 0), COALESCE(COLLATION = 'D', FALSE) FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? AND INDEX_NAME <> 'PRIMARY' ORDER BY INDEX_NAME, SEQ_IN_INDEX", args, func(rows *sql.Rows) error {
			var i myIndex
			var p myPart
			err := rows.Scan(&i.name, &i.kind, &i.unique, &p.column, &p.length, &p.descending)
			if known := t.index(i.name); known != nil {
				known.columns = append(known.columns, p)
				return err
			}
			i.columns = []myPart{p}
			t.indexes = append(t.indexes, i)
			return err
		})
	}
	if err != nil {
		return nil, fmt.Errorf("migrate: look at the table %s: %w", t, err)
	}
	return t, nil
}

// foreign returns foreign keys, those of ours left out.
func (m mysql) foreign(ctx context.Context, condition string, args []any) ([]myForeign, error) {
	var keys []myForeign
	err := m.each(ctx, `SELECT k.CONSTRAINT_NAME, k.TABLE_SCHEMA, k.TABLE_NAME, MIN(k.COLUMN_NAME), MIN(k.REFERENCED_TABLE_SCHEMA), MIN(k.REFERENCED_TABLE_NAME), MIN(k.REFERENCED_COLUMN_NAME), COUNT(*), MIN(r.UPDATE_RULE), MIN(r.DELETE_RULE)
		FROM information_schema.KEY_COLUMN_USAGE k JOIN information_schema.REFERENTIAL_CONSTRAINTS r ON r.CONSTRAINT_SCHEMA = k.CONSTRAINT_SCHEMA AND r.CONSTRAINT_NAME = k.CONSTRAINT_NAME AND r.TABLE_NAME = k.TABLE_NAME
		WHERE k.REFERENCED_TABLE_NAME IS NOT NULL AND k.TABLE_NAME NOT LIKE 'snow\_migrate\_%' AND `+condition+" GROUP BY k.TABLE_SCHEMA, k.TABLE_NAME, k.CONSTRAINT_NAME ORDER BY 2, 3, 1", args, func(rows *sql.Rows) error {
		var k myForeign
		err := rows.Scan(&k.name, &k.schema, &k.table, &k.column, &k.toSchema, &k.to, &k.toColumn, &k.columns, &k.onUpdate, &k.onDelete)
		keys = append(keys, k)
		return err
	})
	return keys, err
}

// refuse returns an error for a table that cannot be copied behind triggers, or has not been tried.
func (t *myTable) refuse() error {
	if len(t.primary) == 0 {
		return refuse(t, "has no primary key, by which its rows could be copied")
	}
	if typ := plainType(t.column(t.primary[0]).typ); slices.Contains([]string{"binary", "varbinary", "blob", "float", "double"}, typ) {
		return refuse(t, "has a key of the type %s, by which its rows cannot be copied", typ)
	}
	for _, c := range t.columns {
		switch {
		case strings.Contains(c.extra, "generated") && !strings.Contains(c.extra, "default_generated"):
			return refuse(t, "has the generated column %s, and must be copied", c.name)
		case strings.Contains(c.extra, "invisible"):
			return refuse(t, "has the invisible column %s, and must be copied", c.name)
		}
	}
	for _, k := range t.foreign {
		for _, rule := range []string{k.onUpdate, k.onDelete} {
			if rule != "RESTRICT" && rule != "NO ACTION" {
				return refuse(t, "the foreign key %s has the action %s, which fires no trigger: its copy would not follow", k.name, rule)
			}
		}
	}
	for _, g := range t.triggers {
		if !strings.HasPrefix(g.name, prefix) {
			return refuse(t, "has the trigger %s, and must be copied", g.name)
		}
	}
	return nil
}
