package main

import (
	"slices"
	"testing"

	"entgo.io/ent"
	"entgo.io/ent/dialect"
	"entgo.io/ent/schema/field"

	"github.com/seed-299c1d6b/snowkey/examples/ent/db/line"
	"github.com/seed-299c1d6b/snowkey/examples/ent/db/migrate"
	"github.com/seed-299c1d6b/snowkey/examples/ent/db/order"
	"github.com/seed-299c1d6b/snowkey/examples/ent/schema"
)

// A field of a schema that db does not have, or the other way round, means that go
// generate was forgotten.
func TestGenerated(t *testing.T) {
	for _, c := range []struct {
		schema  ent.Interface
		columns []string
	}{{schema.Order{}, order.Columns}, {schema.Line{}, line.Columns}} {
		var want []string
		for _, m := range c.schema.Mixin() {
			for _, f := range m.Fields() {
				want = append(want, f.Descriptor().Name)
			}
		}
		for _, f := range c.schema.Fields() {
			want = append(want, f.Descriptor().Name)
		}
		if !slices.Equal(c.columns, want) {
			t.Errorf("db has the columns %q, the schema %q: go generate ./examples/ent", c.columns, want)
		}
	}
	for _, table := range migrate.Tables {
		if key := table.PrimaryKey[0]; key.Type != field.TypeOther || key.Increment || key.SchemaType[dialect.SQLite] != "bigint" {
			t.Errorf("%s: the key is %+v", table.Name, key)
		}
	}
}
