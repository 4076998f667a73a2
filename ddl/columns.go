package ddl

import (
	"fmt"
	"math"
)

// Domain creates the type snowflake_id: a bigint from 1 to the layout's greatest
// id. Zero, which is what a key is that nobody filled, is refused. Only
// PostgreSQL has domains; elsewhere see [Config.Check].
func (c Config) Domain() (Script, error) {
	var f faults
	s := c.begin(&f)
	if s == nil {
		return nil, f.err()
	}
	name := c.named(&f, "id")
	if err := f.err(); err != nil {
		return nil, err
	}
	if c.Dialect != Postgres {
		return nil, unsupported(c.Dialect, "domains, use a CHECK")
	}
	return Script{
		fmt.Sprintf("CREATE DOMAIN %s AS bigint CHECK (%s)", name, valid(s, "VALUE")),
		fmt.Sprintf("COMMENT ON DOMAIN %s IS %s", name, Postgres.text("an id of "+s.layout.String())),
	}, nil
}

// Check is the constraint that refuses what is no id of the layout, and zero,
// to be put behind a column's type. In SQLite it cannot see that a key is missing if the column is
// an integer PRIMARY KEY, which gets a number first, nor NULL: write
// bigint NOT NULL PRIMARY KEY before it, and WITHOUT ROWID behind the columns.
func (c Config) Check(column string) (string, error) {
	var f faults
	s := c.begin(&f)
	name := c.Dialect.ident(&f, "column", column)
	if err := f.err(); err != nil {
		return "", err
	}
	return "CHECK (" + valid(s, name) + ")", nil
}

func valid(s *shape, id string) string {
	if s.max == math.MaxInt64 {
		return id + " > 0"
	}
	return fmt.Sprintf("%s BETWEEN 1 AND %d", id, s.max)
}

// GeneratedColumn is the definition of a column that says a field of the id in
// another column of its row, for CREATE TABLE or behind ALTER TABLE … ADD
// COLUMN. PostgreSQL stores it, MySQL and SQLite reckon it when it is read; it
// can be indexed in each.
func (c Config) GeneratedColumn(name string, field Field, of string) (string, error) {
	var f faults
	s := c.begin(&f)
	checkField(&f, field)
	quoted := c.Dialect.ident(&f, "name", name)
	id := c.Dialect.ident(&f, "column", of)
	if err := f.err(); err != nil {
		return "", err
	}
	kind, how := "bigint", "VIRTUAL"
	if c.Dialect == Postgres {
		how = "STORED"
	}
	if field == Time {
		// Of MariaDB's datetimes only those with six digits are allowed here.
		kind = map[Dialect]string{Postgres: "timestamptz", MySQL: "datetime(6)", SQLite: "text"}[c.Dialect]
	}
	return fmt.Sprintf("%s %s GENERATED ALWAYS AS %s %s", quoted, kind, c.Dialect.field(s, field, id), how), nil
}

// View creates a view of a table with all its columns and, behind them, the
// fields of the id in one of them, named as the functions are.
func (c Config) View(view, table, column string) (Script, error) {
	var f faults
	s := c.begin(&f)
	if s == nil {
		return nil, f.err()
	}
	name := c.Dialect.object(&f, c.Schema, "view", view)
	from := c.Dialect.object(&f, c.Schema, "table", table)
	id := "t." + c.Dialect.ident(&f, "column", column)
	text := fmt.Sprintf("CREATE VIEW %s AS\n  SELECT t.*", name)
	for _, field := range s.fields() {
		text += fmt.Sprintf(",\n    %s AS %s", c.Dialect.field(s, field, id), c.Dialect.ident(&f, "Prefix", c.Prefix+string(field)))
	}
	if err := f.err(); err != nil {
		return nil, err
	}
	return Script{text + "\n  FROM " + from + " AS t"}, nil
}
