package orms

import (
	"context"
	"testing"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/feature"
	"github.com/uptrace/bun/dialect/mysqldialect"
	"github.com/uptrace/bun/dialect/pgdialect"
	"github.com/uptrace/bun/dialect/sqlitedialect"
	"github.com/uptrace/bun/schema"

	"github.com/seed-299c1d6b/snowkey/contrib/bunkey"
	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/internal/integration/orms/shop"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type bunOrder struct {
	bun.BaseModel `bun:"table:orders"`
	bunkey.Hook
	ID       shop.OrderKey     `bun:",pk" json:"id"`
	Number   string            `bun:"type:varchar(40),notnull,unique" json:"number"`
	Customer string            `bun:"type:varchar(40),notnull" json:"customer"`
	ParentID shop.NullOrderKey `json:"parent_id"`
	Lines    []bunLine         `bun:"rel:has-many,join:id=order_id" json:"lines"`
}

type bunLine struct {
	bun.BaseModel `bun:"table:order_lines"`
	bunkey.Hook
	ID      sqltype.ID    `bun:",pk"`
	OrderID shop.OrderKey `bun:",notnull"`
	SKU     string        `bun:"type:varchar(40),notnull"`
}

type bunList struct {
	bun.BaseModel `bun:"table:lists"`
	ID            sqltype.ID   `bun:",pk"`
	IDs           []sqltype.ID `bun:"ids,array"`
}

type bunStore struct{ db *bun.DB }

func openBun(t *testing.T, on *database, src source) store {
	dialect := map[ddl.Dialect]schema.Dialect{
		ddl.Postgres: pgdialect.New(), ddl.MySQL: mysqldialect.New(), ddl.SQLite: sqlitedialect.New(),
	}[on.Dialect]
	s := bunStore{bun.NewDB(on.DB, bunkey.Dialect(dialect, src))}
	_, err := s.db.NewCreateTable().Model((*bunOrder)(nil)).ForeignKey("(parent_id) REFERENCES orders (id)").Exec(t.Context())
	if err == nil {
		_, err = s.db.NewCreateTable().Model((*bunLine)(nil)).ForeignKey("(order_id) REFERENCES orders (id)").Exec(t.Context())
	}
	if err == nil && on.Dialect == ddl.Postgres {
		_, err = s.db.NewCreateTable().Model((*bunList)(nil)).Exec(t.Context())
	}
	must(t, err)
	return s
}

// The hook sets the keys of the orders, and then those of the lines.
func (s bunStore) Insert(ctx context.Context, orders []shop.Order) error {
	return s.db.RunInTx(ctx, nil, func(ctx context.Context, tx bun.Tx) error {
		var rows []bunOrder
		for _, o := range orders {
			rows = append(rows, bunOrder{ID: o.ID, Number: o.Number, Customer: o.Customer, ParentID: o.ParentID})
		}
		if _, err := tx.NewInsert().Model(&rows).Exec(ctx); err != nil {
			return err
		}
		var lines []*bunLine
		for i, o := range orders {
			orders[i].ID = rows[i].ID
			for _, l := range o.Lines {
				lines = append(lines, &bunLine{ID: l.ID, OrderID: rows[i].ID, SKU: l.SKU})
			}
		}
		if _, err := tx.NewInsert().Model(&lines).Exec(ctx); err != nil {
			return err
		}
		for i := range orders {
			for j := range orders[i].Lines {
				orders[i].Lines[j].ID, orders[i].Lines[j].OrderID = lines[0].ID, lines[0].OrderID
				lines = lines[1:]
			}
		}
		return nil
	})
}

func (s bunStore) Upsert(ctx context.Context, o *shop.Order) error {
	row := bunOrder{ID: o.ID, Number: o.Number, Customer: o.Customer, ParentID: o.ParentID}
	put := s.db.NewInsert().Model(&row)
	if !s.db.HasFeature(feature.InsertOnConflict) {
		if _, err := put.On("DUPLICATE KEY UPDATE").Set("customer = VALUES(customer)").Exec(ctx); err != nil {
			return err
		}
		return s.db.NewSelect().Model((*bunOrder)(nil)).Column("id").Where("number = ?", o.Number).Scan(ctx, &o.ID)
	}
	_, err := put.On("CONFLICT (number) DO UPDATE").Set("customer = EXCLUDED.customer").Returning("id").Exec(ctx)
	o.ID = row.ID
	return err
}

func (s bunStore) Orders(ctx context.Context, keys []shop.OrderKey) (orders []shop.Order, err error) {
	var rows []bunOrder
	err = s.db.NewSelect().Model(&rows).Where("id IN (?)", bun.List(keys)).Order("id").
		Relation("Lines", func(q *bun.SelectQuery) *bun.SelectQuery { return q.Order("id") }).Scan(ctx)
	return converted(rows, func(row bunOrder) shop.Order {
		lines := converted(row.Lines, func(l bunLine) shop.Line { return shop.Line{ID: l.ID, OrderID: l.OrderID, SKU: l.SKU} })
		return shop.Order{ID: row.ID, Number: row.Number, Customer: row.Customer, ParentID: row.ParentID, Lines: lines}
	}), err
}

func (s bunStore) Roots(ctx context.Context) (keys []shop.OrderKey, err error) {
	err = s.db.NewSelect().Model((*bunOrder)(nil)).Column("id").Where("parent_id IS NULL").Order("id").Scan(ctx, &keys)
	return keys, err
}

func (s bunStore) Row(ctx context.Context, key shop.OrderKey) (any, error) {
	var row bunOrder
	err := s.db.NewSelect().Model(&row).Where("id = ?", key).Scan(ctx)
	return row, err
}

func (s bunStore) InsertList(ctx context.Context, id sqltype.ID, ids []sqltype.ID) error {
	_, err := s.db.NewInsert().Model(&bunList{ID: id, IDs: ids}).Exec(ctx)
	return err
}

func (s bunStore) ListsWith(ctx context.Context, id sqltype.ID) (lists [][]sqltype.ID, err error) {
	var rows []bunList
	err = s.db.NewSelect().Model(&rows).Where("? = ANY(ids)", id).Scan(ctx)
	return converted(rows, func(row bunList) []sqltype.ID { return row.IDs }), err
}
