package ddl

import (
	"fmt"
	"math"
	"strings"
)

// Functions creates or replaces the functions of the layout:
//
//	snowflake_time(id)        the beginning of its tick: timestamptz, or datetime(3) in UTC
//	snowflake_worker_id(id)   the number that is leased, and snowflake_sequence, bigint
//	snowflake_datacenter(id)  and snowflake_machine, the parts of the worker ID, and
//	                          snowflake_rollback, if the layout has the field
//	snowflake_min(t)          the least id of a time: WHERE id >= snowflake_min(…)
//
// [Config.Expression] and [Config.Min] say what they return.
//
// In PostgreSQL they are immutable and parallel safe, and the planner inlines them. They
// may be used in indexes and stored columns; then do not change the layout.
//
// In MySQL they are deterministic and use no SQL. A server with a binary log requires a
// privilege to create any function, or log_bin_trust_function_creators=1. A
// generated column accepts only [Config.Expression]. MySQL, unlike MariaDB, does not
// select partitions by a function, but by [Config.Min] or constants.
//
// SQLite has no functions in SQL: the script is one query, whose columns are the
// expressions and whose parameter is the id.
func (c Config) Functions() (Script, error) {
	b := c.builder()
	if c.Dialect == SQLite {
		return result(b, Script{"SELECT\n  " + b.columns("id", ",\n  ") + "\nFROM (SELECT ?1 AS id)"})
	}
	var script Script
	for _, field := range b.layout.fields() {
		kind := "bigint"
		if field == Time {
			kind = map[Dialect]string{Postgres: "timestamptz", MySQL: "datetime(3)"}[c.Dialect]
		}
		script = append(script, b.create(string(field), "id bigint", kind, b.field(field, "id"), string(field)+" of an id")...)
	}
	at := map[Dialect]string{Postgres: "t timestamptz", MySQL: "t datetime(6)"}[c.Dialect]
	return result(b, append(script, b.create("min", at, "bigint", b.least("t"), "least id of a time")...))
}

// DropFunctions drops the functions of the layout that exist.
func (c Config) DropFunctions() (Script, error) {
	b := c.builder()
	var script Script
	for _, field := range b.layout.fields() {
		script = append(script, b.drop(b.named(string(field)), "bigint"))
	}
	script = append(script, b.drop(b.named("min"), "timestamptz"))
	if b.wrong == nil && c.Dialect == SQLite {
		return nil, SQLite.unsupported("functions to drop")
	}
	return result(b, script)
}

func (b *builder) create(name, parameter, kind, body, about string) []string {
	name, about = b.named(name), b.Dialect.text(about+" of "+b.layout.String())
	if b.Dialect == Postgres {
		// Not STRICT, which together with CASE prevents inlining. RETURN binds the names in
		// it now, whatever search_path a caller has.
		return []string{
			fmt.Sprintf("CREATE OR REPLACE FUNCTION %s(%s) RETURNS %s\n  LANGUAGE sql IMMUTABLE PARALLEL SAFE\n  RETURN %s", name, parameter, kind, body),
			fmt.Sprintf("COMMENT ON FUNCTION %s(%s) IS %s", name, parameter, about),
		}
	}
	return []string{
		b.drop(name, ""), // MySQL has no OR REPLACE here, unlike MariaDB
		fmt.Sprintf("CREATE FUNCTION %s(%s) RETURNS %s\n  DETERMINISTIC NO SQL SQL SECURITY INVOKER COMMENT %s\n  RETURN %s", name, parameter, kind, about, body),
	}
}

func (b *builder) drop(name, parameter string) string {
	if b.Dialect == Postgres {
		name += "(" + parameter + ")"
	}
	return "DROP FUNCTION IF EXISTS " + name
}

// columns lists the fields of id, each under the name of its function.
func (b *builder) columns(id, separator string) string {
	var all []string
	for _, field := range b.layout.fields() {
		all = append(all, b.field(field, id)+" AS "+b.Dialect.identWith(&b.wrong, "Prefix", b.Prefix, string(field)))
	}
	return strings.Join(all, separator)
}

// Domain creates the type snowflake_id: a bigint from 1 to the layout's greatest id. It
// rejects 0, the value of a key that was not filled. Only PostgreSQL has domains; for the
// others the error is an [errors.ErrUnsupported]: use [Config.Check] there.
func (c Config) Domain() (Script, error) {
	b := c.builder()
	name := b.named("id")
	if b.wrong == nil && c.Dialect != Postgres {
		return nil, c.Dialect.unsupported("domains, use a CHECK")
	}
	return result(b, Script{
		fmt.Sprintf("CREATE DOMAIN %s AS bigint CHECK (%s)", name, b.valid("VALUE")),
		fmt.Sprintf("COMMENT ON DOMAIN %s IS %s", name, Postgres.text("an id of "+b.layout.String())),
	})
}

// Check returns a CHECK constraint, to write after a column's type. It rejects 0, and all numbers that are no ids
// of the layout. In SQLite an integer PRIMARY KEY that is missing gets a number before the
// check, and may be NULL: write bigint NOT NULL PRIMARY KEY before the constraint, and
// WITHOUT ROWID after the columns.
func (c Config) Check(column string) (string, error) {
	b := c.builder()
	return result(b, "CHECK ("+b.valid(b.Dialect.ident(&b.wrong, "column", column))+")")
}

func (b *builder) valid(id string) string {
	if b.layout.max == math.MaxInt64 {
		return id + " > 0"
	}
	return fmt.Sprintf("%s BETWEEN 1 AND %d", id, b.layout.max)
}

// GeneratedColumn returns the definition of a column with a field of the id in another
// column, for CREATE TABLE or after ALTER TABLE … ADD COLUMN. PostgreSQL stores it; MySQL
// and SQLite compute it on reading. All of them can index it.
func (c Config) GeneratedColumn(name string, field Field, of string) (string, error) {
	b := c.builder()
	b.checkField(field)
	quoted := b.Dialect.ident(&b.wrong, "name", name)
	id := b.Dialect.ident(&b.wrong, "column", of)
	kind, how := "bigint", "VIRTUAL"
	if c.Dialect == Postgres {
		how = "STORED"
	}
	if field == Time {
		// MariaDB allows only datetimes with six digits here.
		kind = map[Dialect]string{Postgres: "timestamptz", MySQL: "datetime(6)", SQLite: "text"}[c.Dialect]
	}
	return result(b, fmt.Sprintf("%s %s GENERATED ALWAYS AS %s %s", quoted, kind, b.field(field, id), how))
}

// View creates a view of a table with all its columns, followed by the fields of the id in
// one of them, named as the functions are.
func (c Config) View(view, table, column string) (Script, error) {
	b := c.builder()
	name, from := b.object("view", view), b.object("table", table)
	id := "t." + b.Dialect.ident(&b.wrong, "column", column)
	return result(b, Script{fmt.Sprintf("CREATE VIEW %s AS\n  SELECT t.*,\n    %s\n  FROM %s AS t", name, b.columns(id, ",\n    "), from)})
}

// RequireKey returns the script that makes the database reject a row whose key the program has
// not set. Otherwise the database may make a key that a generator issues too. Use it where no
// [Generator] is possible, and for tables that only Go programs should write to.
//
// In MySQL, MariaDB and SQLite it is a trigger that rejects NULL and 0, even if the column has
// AUTO_INCREMENT or is a rowid; in SQLite it also rejects negative keys. In PostgreSQL the script
// drops the column's default and identity, and makes it NOT NULL. Running the script again changes
// nothing.
func (c Config) RequireKey(table, column string) (Script, error) {
	b := c.builder()
	on, key := b.object("Table", table), b.Dialect.ident(&b.wrong, "Column", column)
	if c.Dialect == Postgres {
		return result(b, Script{fmt.Sprintf("ALTER TABLE %s ALTER COLUMN %s DROP IDENTITY IF EXISTS, ALTER COLUMN %[2]s DROP DEFAULT, ALTER COLUMN %[2]s SET NOT NULL", on, key)})
	}
	suffix := "_" + column + "_required"
	b.Dialect.identWith(&b.wrong, "Table", table, suffix)
	trigger := b.Dialect.qualify(b.Schema, table+suffix)
	text := b.Dialect.text("snowkey: the key is missing: only programs with a generator insert here")
	if c.Dialect == SQLite {
		return result(b, Script{fmt.Sprintf("CREATE TRIGGER IF NOT EXISTS %s BEFORE INSERT ON %s WHEN NEW.%s IS NULL OR NEW.%[3]s <= 0 BEGIN SELECT RAISE(ABORT, %s); END", trigger, b.Dialect.quote(table), key, text)})
	}
	return result(b, Script{
		"DROP TRIGGER IF EXISTS " + trigger,
		fmt.Sprintf("CREATE TRIGGER %s BEFORE INSERT ON %s FOR EACH ROW\nBEGIN\n  IF NEW.%s IS NULL OR NEW.%[3]s = 0 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = %s; END IF;\nEND", trigger, on, key, text),
	})
}
