package ddl

import (
	"fmt"
	"strings"
)

// Functions creates or replaces the functions of the layout:
//
//	snowflake_time(id)        the beginning of its tick: timestamptz, or datetime(3) in UTC
//	snowflake_worker(id)      and snowflake_sequence, bigint
//	snowflake_datacenter(id)  and snowflake_rollback, if the layout has the field
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
		return done(b, Script{"SELECT\n  " + b.columns("id", ",\n  ") + "\nFROM (SELECT ?1 AS id)"})
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
	return done(b, append(script, b.create("min", at, "bigint", b.least("t"), "least id of a time")...))
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
	return done(b, script)
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
