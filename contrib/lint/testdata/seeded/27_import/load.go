// Package load loads orders of a shop into PostgreSQL and SQLite.
package load

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
	"github.com/seed-299c1d6b/snowkey/pgxtype/pgxload"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type Order struct {
	ID    sqltype.ID
	Lines []Line
}

type Line struct {
	ID      sqltype.ID
	OrderID sqltype.ID
	SKU     string
}

func assign(ctx context.Context, gen sqltype.Source, orders []Order) error {
	return sqltype.Assign(ctx, gen, orders, func(o *Order) *sqltype.ID { return &o.ID },
		sqltype.Children(
			func(o *Order) []Line { return o.Lines },
			func(l *Line) *sqltype.ID { return &l.ID },
			func(l *Line) *sqltype.ID { return &l.OrderID }))
}

// Copy loads orders by COPY.
func Copy(ctx context.Context, conn *pgx.Conn, gen *core.Generator, orders []Order) (pgxload.Loaded, error) {
	_ = sqltype.Assign(ctx, gen, orders, func(o *Order) *sqltype.ID { return &o.ID }) // FAULT 083 snowerr: without keys, all orders are loaded with the id 0
	for i := range orders {
		for j := range orders[i].Lines {
			l := &orders[i].Lines[j]
			l.OrderID = orders[i].ID
			if n, err := gen.Next(ctx); !errors.Is(err, core.ErrClosed) { // FAULT 084 snowerr: only one of the errors is looked for, the others make lines with the id 0
				l.ID = sqltype.ID(n)
			}
		}
	}
	return pgxload.Load(ctx, conn, func(w *pgxload.Writer) error {
		table, lines := w.Table("orders", "id"), w.Table("lines", "id", "order_id", "sku")
		for _, o := range orders {
			table.Row(o.ID)
			for _, l := range o.Lines {
				lines.Row(l.ID, l.OrderID, l.SKU)
			}
		}
		return nil
	})
}

// Insert loads orders with GORM, one after the other.
func Insert(ctx context.Context, db *gorm.DB, gen *core.Generator, orders []Order) error {
	if err := assign(ctx, gen, orders); err != nil { // OK 64: handled
		return err
	}
	return graph.Create(ctx, db, &orders)
}

// Number gives the orders ids in the background.
func Number(ctx context.Context, gen *core.Generator, n int) <-chan int64 {
	out := make(chan int64)
	go func() {
		defer close(out)
		for range n {
			id, _ := gen.Next(ctx) // FAULT 085 snowerr: in a goroutine, the error is dropped and 0 is sent
			out <- id
		}
	}()
	return out
}
