package ddl

import (
	"fmt"
	"math"
)

// Domain creates the type snowflake_id: a bigint from 1 to the layout's greatest id. It
// rejects 0, the value of a key that was not filled. Only PostgreSQL has domains; for the
// others the error is an [errors.ErrUnsupported]: use [Config.Check] there.
func (c Config) Domain() (Script, error) {
	b := c.builder()
	name := b.named("id")
	if b.wrong == nil && c.Dialect != Postgres {
		return nil, c.Dialect.unsupported("domains, use a CHECK")
	}
	return done(b, Script{
		fmt.Sprintf("CREATE DOMAIN %s AS bigint CHECK (%s)", name, b.valid("VALUE")),
		fmt.Sprintf("COMMENT ON DOMAIN %s IS %s", name, Postgres.text("an id of "+b.layout.String())),
	})
}

// Check returns the constraint that rejects 0 and what is no id of the layout, for after
// a column's type. In SQLite an integer PRIMARY KEY that is missing gets a number before the
// check, and may be NULL: write bigint NOT NULL PRIMARY KEY before the constraint, and
// WITHOUT ROWID after the columns.
func (c Config) Check(column string) (string, error) {
	b := c.builder()
	return done(b, "CHECK ("+b.valid(b.Dialect.ident(&b.wrong, "column", column))+")")
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
	return done(b, fmt.Sprintf("%s %s GENERATED ALWAYS AS %s %s", quoted, kind, b.field(field, id), how))
}

// View creates a view of a table with all its columns, followed by the fields of the id in
// one of them, named as the functions are.
func (c Config) View(view, table, column string) (Script, error) {
	b := c.builder()
	name, from := b.object("view", view), b.object("table", table)
	id := "t." + b.Dialect.ident(&b.wrong, "column", column)
	return done(b, Script{fmt.Sprintf("CREATE VIEW %s AS\n  SELECT t.*,\n    %s\n  FROM %s AS t", name, b.columns(id, ",\n    "), from)})
}
