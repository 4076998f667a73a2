package backfill

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-299c1d6b/snowkey/contrib/migrate/internal/live"
	"github.com/seed-299c1d6b/snowkey/ddl"
)

// A column as the catalog shows it. Types are in lower case.
type column struct {
	name, typ string
	onUpdate  bool // the database sets it in each UPDATE, as MySQL does with ON UPDATE CURRENT_TIMESTAMP
}

// A table as the catalog shows it.
type table struct {
	schema, name string
	fixed        string // what it is, if no column can be added to it alone
	columns      []column
}

func (t *table) column(name string) *column {
	i := slices.IndexFunc(t.columns, func(c column) bool { return c.name == name })
	if i < 0 {
		i = slices.IndexFunc(t.columns, func(c column) bool { return strings.EqualFold(c.name, name) })
	}
	if i < 0 {
		return nil
	}
	return &t.columns[i]
}

// of returns the table's name for statements.
func (t *table) of(db database) string { return db.quote(t.schema, t.name) }

// refuse returns the error for a table that a backfill does not handle.
func (t *table) refuse(reason string, args ...any) error {
	return live.Error("backfill", "Table", t.String(), reason, args...)
}

func (t *table) String() string { return strings.TrimPrefix(t.schema+"."+t.name, ".") }

// catalog has the queries of each dialect. Their arguments are the schema, which may be empty, and
// the name of a table; those of PostgreSQL have the quoted name alone.
type catalog struct {
	table    string // schema, name, what it is if that is not an ordinary table, and what if no column can be added
	columns  string // name, type, whether an UPDATE sets it
	key      string // the columns of the primary key
	index    string // how many indexes begin with a column, the third argument, or in PostgreSQL the second
	triggers string // the names of its UPDATE triggers, in PostgreSQL of those that fire for a column
	foreign  string // those that refer to it: schema, table, column, constraint, referenced column, number of columns
}

const mysqlTable = "TABLE_SCHEMA = COALESCE(NULLIF(?, ''), DATABASE()) AND TABLE_NAME = ?"

func catalogOf(d ddl.Dialect) catalog {
	switch d {
	case ddl.Postgres:
		return catalog{
			table: `SELECT n.nspname, c.relname, CASE c.relkind WHEN 'r' THEN CASE WHEN EXISTS (SELECT FROM pg_catalog.pg_inherits i WHERE i.inhparent = c.oid) THEN 'a table that others inherit'
				WHEN EXISTS (SELECT FROM pg_catalog.pg_rewrite r WHERE r.ev_class = c.oid AND r.ev_type = '2') THEN 'a table with a rule for UPDATE'
				WHEN pg_catalog.row_security_active(c.oid) THEN 'a table with row-level security, which may hide rows from this role' ELSE '' END
				WHEN 'p' THEN 'a partitioned table' WHEN 'v' THEN 'a view'
				WHEN 'm' THEN 'a materialized view' WHEN 'f' THEN 'a foreign table' ELSE 'no table' END,
				CASE WHEN c.relispartition THEN 'a partition' WHEN c.reloftype <> 0 THEN 'a table of a type' ELSE '' END
				FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = CAST(to_regclass(?) AS oid)`,
			columns: `SELECT a.attname, pg_catalog.format_type(COALESCE(NULLIF(t.typbasetype, 0), a.atttypid), NULL), 0
				FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
				WHERE a.attrelid = CAST(to_regclass(?) AS oid) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`,
			key: `SELECT a.attname FROM pg_catalog.pg_index i JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid
				AND a.attnum = ANY ((CAST(i.indkey AS int2[]))[0:i.indnkeyatts - 1]) WHERE i.indisprimary AND i.indrelid = CAST(to_regclass(?) AS oid)`,
			index: `SELECT count(*) FROM pg_catalog.pg_index i JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
				WHERE i.indrelid = CAST(to_regclass(?) AS oid) AND a.attname = ? AND i.indisvalid AND i.indpred IS NULL`,
			triggers: `SELECT t.tgname FROM pg_catalog.pg_trigger t WHERE t.tgrelid = CAST(to_regclass(?) AS oid)
				AND NOT t.tgisinternal AND t.tgtype & 16 <> 0 AND t.tgenabled IN ('O', 'A')
				AND (cardinality(CAST(t.tgattr AS int2[])) = 0 OR EXISTS (SELECT FROM pg_catalog.pg_attribute a
					WHERE a.attrelid = t.tgrelid AND a.attname = ? AND a.attnum = ANY (CAST(t.tgattr AS int2[]))))`,
			foreign: `SELECT n.nspname, c.relname, a.attname, k.conname, r.attname, cardinality(k.conkey)
				FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_class c ON c.oid = k.conrelid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
				JOIN pg_catalog.pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = k.conkey[1]
				JOIN pg_catalog.pg_attribute r ON r.attrelid = k.confrelid AND r.attnum = k.confkey[1]
				WHERE k.contype = 'f' AND k.confrelid = CAST(to_regclass(?) AS oid) ORDER BY 1, 2, 4`,
		}
	case ddl.MySQL:
		return catalog{
			table: `SELECT TABLE_SCHEMA, TABLE_NAME, CASE WHEN TABLE_TYPE <> 'BASE TABLE' THEN LOWER(TABLE_TYPE)
				WHEN CREATE_OPTIONS LIKE '%partitioned%' THEN 'a partitioned table' WHEN ENGINE <> 'InnoDB' THEN CONCAT('a table of the engine ', ENGINE) ELSE '' END, ''
				FROM information_schema.TABLES WHERE ` + mysqlTable,
			columns: `SELECT COLUMN_NAME, COLUMN_TYPE, CASE WHEN EXTRA LIKE '%on update%' THEN 1 ELSE 0 END
				FROM information_schema.COLUMNS WHERE ` + mysqlTable + ` ORDER BY ORDINAL_POSITION`,
			key:      `SELECT COLUMN_NAME FROM information_schema.KEY_COLUMN_USAGE WHERE CONSTRAINT_NAME = 'PRIMARY' AND ` + mysqlTable,
			index:    `SELECT COUNT(*) FROM information_schema.STATISTICS WHERE ` + mysqlTable + ` AND SEQ_IN_INDEX = 1 AND COLUMN_NAME = ?`,
			triggers: `SELECT TRIGGER_NAME FROM information_schema.TRIGGERS WHERE EVENT_MANIPULATION = 'UPDATE' AND EVENT_OBJECT_SCHEMA = COALESCE(NULLIF(?, ''), DATABASE()) AND EVENT_OBJECT_TABLE = ? ORDER BY 1`,
			foreign: `SELECT TABLE_SCHEMA, TABLE_NAME, MIN(COLUMN_NAME), CONSTRAINT_NAME, MIN(REFERENCED_COLUMN_NAME), COUNT(*)
				FROM information_schema.KEY_COLUMN_USAGE WHERE REFERENCED_TABLE_SCHEMA = COALESCE(NULLIF(?, ''), DATABASE()) AND REFERENCED_TABLE_NAME = ?
				GROUP BY TABLE_SCHEMA, TABLE_NAME, CONSTRAINT_NAME ORDER BY 1, 2, 4`,
		}
	}
	return catalog{
		table:   `SELECT '', name, CASE WHEN type = 'view' THEN 'a view' WHEN sql LIKE 'CREATE VIRTUAL%' THEN 'a virtual table' ELSE '' END, '' FROM sqlite_master WHERE type IN ('table', 'view') AND ? = '' AND lower(name) = lower(?)`,
		columns: `SELECT name, type, 0 FROM pragma_table_info(?2) WHERE ?1 = ''`,
		key:     `SELECT name FROM pragma_table_info(?2) WHERE pk > 0 AND ?1 = ''`,
		index: `SELECT (SELECT count(*) FROM pragma_index_list(?2) l JOIN pragma_index_info(l.name) x WHERE ?1 = '' AND x.seqno = 0 AND l.partial = 0 AND lower(x.name) = lower(?3))
			+ (SELECT count(*) FROM pragma_table_info(?2) WHERE pk = 1 AND lower(name) = lower(?3))`,
		// An INSERT trigger with that word in its head is one of them, to be safe.
		triggers: `SELECT name FROM sqlite_master WHERE type = 'trigger' AND ? = '' AND lower(tbl_name) = lower(?) AND upper(substr(sql, 1, instr(upper(sql), 'BEGIN'))) LIKE '%UPDATE%' ORDER BY 1`,
		foreign: `SELECT '', m.name, min(f."from"), CAST(f.id AS TEXT), COALESCE(min(f."to"), ''), count(*) FROM sqlite_master m JOIN pragma_foreign_key_list(m.name) f
			WHERE m.type = 'table' AND ? = '' AND lower(f."table") = lower(?) GROUP BY m.name, f.id ORDER BY 2, 4`,
	}
}

// args are the arguments of a catalog query.
func (db database) args(schema, name string) []any {
	if db.dialect == ddl.Postgres {
		return []any{db.quote(schema, name)}
	}
	return []any{schema, name}
}

// findTable returns a table. field is the one of Config that names it.
func (db database) findTable(ctx context.Context, field, schema, name string) (*table, error) {
	queries := catalogOf(db.dialect)
	var what string
	tables, err := query(ctx, db, func(rows *sql.Rows) (t table, err error) {
		return t, rows.Scan(&t.schema, &t.name, &what, &t.fixed)
	}, queries.table, db.args(schema, name)...)
	text := strings.TrimPrefix(schema+"."+name, ".")
	switch {
	case err != nil:
		return nil, fmt.Errorf("backfill: inspect the table %s: %w", text, err)
	case len(tables) == 0:
		return nil, live.Error("backfill", field, text, "there is no such table")
	case what != "":
		return nil, live.Error("backfill", field, text, "must be an ordinary table: it is %s", what)
	}
	t := tables[0]
	t.columns, err = query(ctx, db, func(rows *sql.Rows) (c column, err error) {
		err = rows.Scan(&c.name, &c.typ, &c.onUpdate)
		c.typ = strings.ToLower(c.typ)
		return c, err
	}, queries.columns, db.args(t.schema, t.name)...)
	if err != nil {
		return nil, fmt.Errorf("backfill: inspect the columns of %s: %w", text, err)
	}
	return &t, nil
}

// keyOf returns the one column of the primary key.
func (db database) keyOf(ctx context.Context, t *table) (*column, error) {
	names, err := query(ctx, db, scanName, catalogOf(db.dialect).key, db.args(t.schema, t.name)...)
	if err != nil {
		return nil, fmt.Errorf("backfill: look for the key of %s: %w", t, err)
	}
	switch {
	case len(names) == 0:
		return nil, t.refuse("has no primary key")
	case len(names) > 1:
		return nil, t.refuse("has a primary key of %d columns: %s; only one is supported", len(names), strings.Join(names, ", "))
	case live.BadName(names[0]) != "":
		return nil, t.refuse("has the primary key %q: the name %s", names[0], live.BadName(names[0]))
	}
	return t.column(names[0]), nil
}

func scanName(rows *sql.Rows) (name string, err error) { return name, rows.Scan(&name) }
