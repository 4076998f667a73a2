package orms

import (
	"database/sql"
	"errors"
	"strings"
	"testing"

	entdriver "entgo.io/ent/dialect/sql"

	"github.com/seed-299c1d6b/snowkey/internal/databases"
	"github.com/seed-299c1d6b/snowkey/internal/integration/engines"
	"github.com/seed-299c1d6b/snowkey/internal/integration/orms/entshop/db"
	"github.com/seed-299c1d6b/snowkey/internal/integration/orms/entshop/db/label"
	"github.com/seed-299c1d6b/snowkey/internal/integration/orms/entshop/db/order"
)

// In a table of the mixin, a forgotten key is an error of the database.
func TestEntForgottenKey(t *testing.T) {
	onEvery(t, func(t *testing.T, on *database) {
		openEnt(t, on, nil)
		if err := on.Try("INSERT INTO orders (number, customer) VALUES ('A-1', 'Ada')"); err == nil || !strings.Contains(err.Error(), "id") {
			t.Error(err)
		}
	})
}

// MySQL and MariaDB have no RETURNING for ent, which then believes of numbers that the database counted
// them. The extension prevents that.
func TestEntBulkOnMySQL(t *testing.T) {
	engines.OnMySQL(t, nil, func(t *testing.T, on *database) {
		s := openEnt(t, on, databases.Generator(t, 1)).(entStore)
		ctx := t.Context()
		o := s.client.Order.Create().SetNumber("A-1").SetCustomer("Ada").SaveX(ctx)
		note := s.client.Label.Create().SetText("fragile").SaveX(ctx)
		lines := s.client.Line.CreateBulk(
			s.client.Line.Create().SetOrderID(o.ID).SetSku("tea"),
			s.client.Line.Create().SetOrderID(o.ID).SetSku("cup").AddLabels(note),
		).SaveX(ctx)
		if got := ints(t, on, "SELECT id FROM order_lines ORDER BY id"); len(got) != 2 || lines[0].ID.Int64() != got[0] || lines[1].ID.Int64() != got[1] {
			t.Errorf("the rows have %d, their structs %d and %d", got, lines[0].ID, lines[1].ID)
		}
		if got := ints(t, on, "SELECT line_labels FROM labels"); len(got) != 1 || got[0] != lines[1].ID.Int64() {
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
	})
}

// UpdateNewValues keeps the key of the row. ent's own option does not: it would take the row from its
// children.
func TestEntUpdateNewValues(t *testing.T) {
	s := openEnt(t, openSQLite(t), databases.Generator(t, 1)).(entStore)
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
