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

// foreignKey is a constraint that refers to the table.
type foreignKey struct {
	schema, table, column, name, to string
	columns                         int
}

// findReferences finds the columns that refer to the key.
func (j *job) findReferences(ctx context.Context) error {
	declared, err := query(ctx, j.db, func(rows *sql.Rows) (k foreignKey, err error) {
		return k, rows.Scan(&k.schema, &k.table, &k.column, &k.name, &k.to, &k.columns)
	}, catalogOf(j.db.dialect).foreign, j.db.args(j.table.schema, j.table.name)...)
	if err != nil {
		return fmt.Errorf("backfill: look for foreign keys to %s: %w", j.table, err)
	}
	for _, k := range declared {
		from := table{schema: k.schema, name: k.table}
		switch {
		case k.columns > 1:
			return j.table.refuse("is referenced by the foreign key %s of %s, which has %d columns; only one is supported",
				k.name, &from, k.columns)
		case k.to != "" && j.table.column(k.to) != j.key: // it refers to another unique column
			continue
		case live.BadName(k.table) != "" || live.BadName(k.column) != "" || k.schema != "" && live.BadName(k.schema) != "":
			return j.table.refuse("is referenced by the foreign key %s of %q.%q: "+
				"names with dots, quotes, question marks or control characters are not supported", k.name, &from, k.column)
		}
		if err := j.addReference(ctx, "Table", k.schema, k.table, k.column); err != nil {
			return err
		}
	}
	for _, ref := range j.cfg.References {
		name, column := splitColumn(ref)
		schema, name := live.SplitTable(name)
		if err := j.addReference(ctx, "References", schema, name, column); err != nil {
			return err
		}
	}
	return nil
}

// addReference adds a column that refers to the key, once. field is the one of Config that names it.
func (j *job) addReference(ctx context.Context, field, schema, name, column string) error {
	t, err := j.db.findTable(ctx, field, schema, name)
	if err != nil {
		return err
	}
	refuse := func(reason string, args ...any) error {
		return live.Error("backfill", field, name+"."+column, reason, args...)
	}
	c := t.column(column)
	if c == nil {
		return refuse("%s has no such column", t)
	}
	if t.String() == j.table.String() {
		t = j.table
		if c.name == j.key.name {
			return refuse("is the key itself")
		}
	}
	if j.db.dialect == ddl.MySQL && comparedAs(c.typ) != comparedAs(j.key.typ) {
		return refuse("has the type %s, and the key %s: MySQL would compare them as floating-point numbers", c.typ, j.key.typ)
	}
	ref, err := j.target(field, t, c.name, c.name+suffix)
	if err != nil {
		return err
	}
	if t == j.table && strings.EqualFold(ref.to, j.into.to) {
		return refuse("its ids would be in %s, as those of the rows: choose another Column", ref.to)
	}
	indexes, err := j.db.count(ctx, "look for indexes of "+t.String(),
		catalogOf(j.db.dialect).index, append(j.db.args(t.schema, t.name), c.name)...)
	if err != nil {
		return err
	}
	ref.indexed = indexes > 0
	if !slices.ContainsFunc(j.refs, func(o *target) bool {
		return o.table.String() == t.String() && o.from == ref.from
	}) {
		j.refs = append(j.refs, ref)
	}
	return nil
}

// comparedAs returns the kind of a type of MySQL. Values of one kind are compared exactly.
func comparedAs(typ string) string {
	for _, number := range []string{"tinyint", "smallint", "mediumint", "int", "bigint", "decimal"} {
		if strings.HasPrefix(typ, number) {
			return "number"
		}
	}
	if strings.HasPrefix(typ, "float") || strings.HasPrefix(typ, "double") {
		return "float"
	}
	return "text"
}
