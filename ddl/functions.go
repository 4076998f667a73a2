package ddl

import (
	"fmt"

	"github.com/seed-299c1d6b/snowkey/core"
)

// Functions is [Config.Functions] in the default names, as one text. In SQLite,
// which has no functions in SQL, it is a query that shows the expressions.
func Functions(l core.Layout, d Dialect) (string, error) {
	script, err := Config{Layout: l, Dialect: d}.Functions()
	return script.String(), err
}

// Functions creates the functions of the layout, or replaces them:
//
//	snowflake_time(id)        the beginning of its tick: timestamptz, or datetime(3) in UTC
//	snowflake_worker(id)      and snowflake_sequence, bigint
//	snowflake_datacenter(id)  and snowflake_rollback, where the layout has the field
//	snowflake_min(t)          the least id of a time: WHERE id >= snowflake_min(…)
//
// What they give is said at [Config.Expression] and [Config.Min].
//
// In PostgreSQL they are immutable and parallel safe, and a call is replaced by
// the expression before the query is planned. They may be used in indexes and in
// stored columns; do not change the layout of functions that are.
//
// In MySQL they are deterministic and use no SQL. A server with a binary log wants
// a privilege for creating any function, or log_bin_trust_function_creators=1.
// A generated column takes [Config.Expression] only, and MySQL itself, unlike
// MariaDB, chooses partitions by [Config.Min] or constants, not by a function.
//
// SQLite has no such functions: the script is one query, whose columns are the
// expressions and whose parameter is the id.
func (c Config) Functions() (Script, error) {
	var f faults
	s := c.begin(&f)
	if s == nil {
		return nil, f.err()
	}
	var script Script
	if c.Dialect == SQLite {
		script = Script{c.query(&f, s)}
	} else {
		for _, field := range s.fields() {
			kind := "bigint"
			if field == Time {
				kind = map[Dialect]string{Postgres: "timestamptz", MySQL: "datetime(3)"}[c.Dialect]
			}
			name := c.named(&f, string(field))
			script = append(script, c.create(name, "id bigint", kind, c.Dialect.field(s, field, "id"), about(s, field))...)
		}
		at := map[Dialect]string{Postgres: "t timestamptz", MySQL: "t datetime(6)"}[c.Dialect]
		script = append(script, c.create(c.named(&f, "min"), at, "bigint", c.Dialect.least(s, "t"), about(s, "min"))...)
	}
	if err := f.err(); err != nil {
		return nil, err
	}
	return script, nil
}

// DropFunctions drops what Functions creates, as far as it is there.
func (c Config) DropFunctions() (Script, error) {
	var f faults
	s := c.begin(&f)
	if s == nil {
		return nil, f.err()
	}
	var script Script
	for _, field := range s.fields() {
		script = append(script, c.drop(c.named(&f, string(field)), "bigint"))
	}
	script = append(script, c.drop(c.named(&f, "min"), "timestamptz"))
	if err := f.err(); err != nil {
		return nil, err
	}
	if c.Dialect == SQLite {
		return nil, unsupported(SQLite, "functions to drop")
	}
	return script, nil
}

func (c Config) create(name, parameter, kind, body, about string) []string {
	if c.Dialect == Postgres {
		// Not STRICT, which together with CASE keeps a call from being replaced by
		// the body. RETURN binds the names in it now, whatever search_path a caller has.
		return []string{
			fmt.Sprintf("CREATE OR REPLACE FUNCTION %s(%s) RETURNS %s\n  LANGUAGE sql IMMUTABLE PARALLEL SAFE\n  RETURN %s", name, parameter, kind, body),
			fmt.Sprintf("COMMENT ON FUNCTION %s(%s) IS %s", name, parameter, c.Dialect.text(about)),
		}
	}
	return []string{
		c.drop(name, ""), // MySQL has no OR REPLACE here, unlike MariaDB
		fmt.Sprintf("CREATE FUNCTION %s(%s) RETURNS %s\n  DETERMINISTIC NO SQL SQL SECURITY INVOKER COMMENT %s\n  RETURN %s",
			name, parameter, kind, c.Dialect.text(about), body),
	}
}

func (c Config) drop(name, parameter string) string {
	if c.Dialect == Postgres {
		return fmt.Sprintf("DROP FUNCTION IF EXISTS %s(%s)", name, parameter)
	}
	return "DROP FUNCTION IF EXISTS " + name
}

// query is for a database without functions.
func (c Config) query(f *faults, s *shape) string {
	text := "SELECT"
	for i, field := range s.fields() {
		if i > 0 {
			text += ","
		}
		text += fmt.Sprintf("\n  %s AS %s", c.Dialect.field(s, field, "id"), c.Dialect.ident(f, "Prefix", c.Prefix+string(field)))
	}
	return text + "\nFROM (SELECT ?1 AS id)"
}

// about is the comment that a function gets.
func about(s *shape, field Field) string {
	what := string(field) + " of an id"
	if field == "min" {
		what = "least id of a time"
	}
	return what + " of " + s.layout.String()
}
