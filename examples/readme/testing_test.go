package readme

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/DATA-DOG/go-sqlmock"
	"github.com/glebarez/sqlite"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/snowkeytest"
	"github.com/seed-299c1d6b/snowkey/snowkeytest/gormtest"
	"github.com/seed-299c1d6b/snowkey/sqltype"
	"github.com/seed-299c1d6b/snowkey/worker"
)

func TestInvoices(t *testing.T) {
	t.Parallel()
	gen := snowkeytest.New(t, snowkeytest.Config{})
	invoices := []Invoice{{Items: make([]Item, 2)}, {Items: make([]Item, 1)}}
	if err := assign(t.Context(), gen, invoices); err != nil {
		t.Fatal(err)
	}
	snowkeytest.Golden(t, "testdata/invoices.json", invoices)
}

func TestDatabaseIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))) // the clock of synctest starts in 2000
		store := snowkeytest.NewStore(t, nil)
		gen, err := worker.Open(t.Context(), store, worker.Config{})
		if err != nil {
			t.Fatal(err)
		}
		defer gen.Close(context.Background())
		store.Fail(errors.New("the database is down"))
		time.Sleep(time.Minute) // longer than worker.Config.FenceWindow
		if _, err := gen.Next(t.Context()); !errors.Is(err, core.ErrFenced) {
			t.Errorf("%v", err)
		}
		store.Fail(nil)
		time.Sleep(time.Second)
		if _, err := gen.Next(t.Context()); err != nil {
			t.Errorf("the lease has not recovered: %v", err)
		}
	})
}

func TestCreateOrder(t *testing.T) {
	db := gormtest.Open(t, sqlite.Open(filepath.Join(t.TempDir(), "shop.sqlite")), snowkeytest.Config{}, &Order{}, &OrderLine{})
	order := Order{Note: "by air", Lines: []OrderLine{{SKU: "A-1"}}}
	if err := db.Create(&order).Error; err != nil {
		t.Fatal(err)
	}
	if order.Lines[0].OrderID != order.ID {
		t.Errorf("%+v", order)
	}
}

func TestStatements(t *testing.T) {
	db, mock, err := sqlmock.New()
	if err != nil {
		t.Fatal(err)
	}
	order := new(snowkeytest.SameID)
	mock.ExpectExec("INSERT INTO orders").WithArgs(order, "by air").WillReturnResult(sqlmock.NewResult(0, 1))
	mock.ExpectExec("INSERT INTO order_lines").WithArgs(snowkeytest.AnyID{}, order).WillReturnResult(sqlmock.NewResult(0, 1))
	if err := insertOrder(t.Context(), db, snowkeytest.New(t, snowkeytest.Config{})); err != nil {
		t.Error(err)
	}
}

// insertOrder writes an order with one line.
func insertOrder(ctx context.Context, db *sql.DB, gen sqltype.Source) error {
	ids := make([]int64, 2)
	if err := gen.Fill(ctx, ids); err != nil {
		return err
	}
	if _, err := db.ExecContext(ctx, "INSERT INTO orders (id, note) VALUES (?, ?)", ids[0], "by air"); err != nil {
		return err
	}
	_, err := db.ExecContext(ctx, "INSERT INTO order_lines (id, order_id) VALUES (?, ?)", ids[1], ids[0])
	return err
}
