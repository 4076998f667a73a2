package orms

import (
	"database/sql"
	"errors"
	"strings"
	"testing"

	"entgo.io/ent"
	entdriver "entgo.io/ent/dialect/sql"
	"entgo.io/ent/dialect/sql/schema"
	"entgo.io/ent/dialect/sql/sqlgraph"
	"entgo.io/ent/entc/gen"
	"entgo.io/ent/entc/load"
	"entgo.io/ent/schema/field"

	"github.com/seed-299c1d6b/snowkey/contrib/entkey"
	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/integration/orms/entshop/db"
	"github.com/seed-299c1d6b/snowkey/internal/integration/orms/entshop/db/label"
	"github.com/seed-299c1d6b/snowkey/internal/integration/orms/entshop/db/order"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Naked has the key that one writes without a mixin, and Mixed that of the mixin.
type (
	Naked struct{ ent.Schema }
	Mixed struct{ ent.Schema }
)

func (Naked) Fields() []ent.Field {
	return []ent.Field{field.Int64("id").GoType(sqltype.ID(0)), field.String("name")}
}

func (Mixed) Mixin() []ent.Mixin  { return []ent.Mixin{entkey.Mixin{}} }
func (Mixed) Fields() []ent.Field { return []ent.Field{field.String("name")} }

// Without the mixin a forgotten key is 1, and nothing says so. With it, it is an error of the
// database.
func TestEntForgottenKeys(t *testing.T) {
	for _, kind := range all {
		t.Run(kind, func(t *testing.T) {
			on := open(t, kind, servers(t, kind)[0])
			driver := entdriver.OpenDB(entDialects[kind], on.pool)
			migrate, err := schema.NewMigrate(driver)
			if err == nil {
				err = migrate.Create(t.Context(), entTables(t, Naked{}, Mixed{})...)
			}
			if err != nil {
				t.Fatal(err)
			}
			insert := func(table string) error {
				return sqlgraph.CreateNode(t.Context(), driver, &sqlgraph.CreateSpec{
					Table:  table,
					ID:     &sqlgraph.FieldSpec{Column: "id", Type: field.TypeInt64},
					Fields: []*sqlgraph.FieldSpec{{Column: "name", Type: field.TypeString, Value: "Ada"}},
				})
			}
			if err := insert("nakeds"); err != nil {
				t.Error(err)
			}
			if got := on.ints(t, "SELECT id FROM nakeds"); len(got) != 1 || got[0] != 1 {
				t.Errorf("without the mixin the key is %d; the documents say 1", got)
			}
			if err := insert("mixeds"); err == nil || !strings.Contains(err.Error(), "id") {
				t.Errorf("with the mixin: %v", err)
			}
			if got := on.ints(t, "SELECT id FROM mixeds"); len(got) != 0 {
				t.Errorf("with the mixin the key is %d", got)
			}
		})
	}
}

// entTables are those of the schemas, as the generated code declares them.
func entTables(t *testing.T, schemas ...ent.Interface) []*schema.Table {
	t.Helper()
	var loaded []*load.Schema
	for _, s := range schemas {
		b, err := load.MarshalSchema(s)
		if err != nil {
			t.Fatal(err)
		}
		l, err := load.UnmarshalSchema(b)
		if err != nil {
			t.Fatal(err)
		}
		loaded = append(loaded, l)
	}
	storage, err := gen.NewStorage("sql")
	if err != nil {
		t.Fatal(err)
	}
	graph, err := gen.NewGraph(&gen.Config{Package: "example.org/shop/db", Storage: storage}, loaded...)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := graph.Tables()
	if err != nil {
		t.Fatal(err)
	}
	return tables
}

// MySQL and MariaDB have no RETURNING for ent, which then believes of numbers that the database counted
// them. The extension prevents that.
func TestEntBulkOnMySQL(t *testing.T) {
	for _, dsn := range servers(t, "mysql") {
		gen, err := core.New(core.Config{Worker: core.Fixed(1)})
		if err != nil {
			t.Fatal(err)
		}
		on := open(t, "mysql", dsn)
		s := openEnt(t, on, gen).(entStore)
		ctx := t.Context()
		o, err := s.client.Order.Create().SetNumber("A-1").SetCustomer("Ada").Save(ctx)
		if err != nil {
			t.Fatal(err)
		}
		note, err := s.client.Label.Create().SetText("fragile").Save(ctx)
		if err != nil {
			t.Fatal(err)
		}
		lines, err := s.client.Line.CreateBulk(
			s.client.Line.Create().SetOrderID(o.ID).SetSku("tea"),
			s.client.Line.Create().SetOrderID(o.ID).SetSku("cup").AddLabels(note),
		).Save(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if got := on.ints(t, "SELECT id FROM order_lines ORDER BY id"); len(got) != 2 || lines[0].ID.Int64() != got[0] || lines[1].ID.Int64() != got[1] {
			t.Errorf("the rows have %d, their structs %d and %d", got, lines[0].ID, lines[1].ID)
		}
		if got := on.ints(t, "SELECT line_labels FROM labels"); len(got) != 1 || got[0] != lines[1].ID.Int64() {
			t.Errorf("the label is of line %d, want %d", got, lines[1].ID)
		}
		if found, err := lines[1].QueryLabels().Where(label.Text("fragile")).Only(ctx); err != nil || found.ID != note.ID {
			t.Errorf("%v, %v", found, err)
		}
		id, err := s.client.Order.Create().SetNumber("A-1").SetCustomer("Ann").OnConflictColumns(order.FieldNumber).
			Update(func(row *db.OrderUpsert) { row.UpdateCustomer() }).ID(ctx)
		if err == nil || !strings.Contains(err.Error(), "Exec instead") {
			t.Errorf("ID of an upsert is %d, %v", id, err)
		}
	}
}

// UpdateNewValues keeps the key of the row. ent's own option does not: it would take the row from its
// children.
func TestEntUpdateNewValues(t *testing.T) {
	on := open(t, "sqlite", "")
	gen, err := core.New(core.Config{Worker: core.Fixed(1)})
	if err != nil {
		t.Fatal(err)
	}
	s := openEnt(t, on, gen).(entStore)
	ctx := t.Context()
	first := s.client.Order.Create().SetNumber("A-1").SetCustomer("Ada").SaveX(ctx)
	again := func() *db.OrderCreate { return s.client.Order.Create().SetNumber("A-1").SetCustomer("Ann") }
	if id, err := again().OnConflictColumns(order.FieldNumber).UpdateNewValues().ID(ctx); err != nil || id != first.ID {
		t.Errorf("%d, %v, want %d", id, err, first.ID)
	}
	if id, err := again().OnConflictColumns(order.FieldNumber).Ignore().ID(ctx); err != nil || id != first.ID {
		t.Errorf("%d, %v, want %d", id, err, first.ID)
	}
	if id, err := again().OnConflictColumns(order.FieldNumber).DoNothing().ID(ctx); !errors.Is(err, sql.ErrNoRows) {
		t.Errorf("%d, %v; the documents say sql.ErrNoRows", id, err)
	}
	if id, err := again().OnConflict(entdriver.ConflictColumns(order.FieldNumber), entdriver.ResolveWithNewValues()).ID(ctx); err != nil || id == first.ID {
		t.Errorf("%d, %v; the documents say that the key changes", id, err)
	}
}
