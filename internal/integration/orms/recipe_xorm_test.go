package orms

import (
	"context"

	"xorm.io/xorm"

	"github.com/seed-299c1d6b/snowkey/internal/integration/orms/shop"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type xormOrder struct {
	ID       shop.OrderKey     `xorm:"pk 'id'" json:"id"`
	Number   string            `xorm:"varchar(40) notnull unique" json:"number"`
	Customer string            `xorm:"varchar(40) notnull" json:"customer"`
	ParentID shop.NullOrderKey `xorm:"bigint index 'parent_id'" json:"parent_id"`
}

type xormLine struct {
	ID      sqltype.ID    `xorm:"pk 'id'"`
	OrderID shop.OrderKey `xorm:"notnull index 'order_id'"`
	SKU     string        `xorm:"varchar(40) notnull 'sku'"`
}

type xormList struct {
	ID  sqltype.ID `xorm:"pk 'id'"`
	IDs xormIDs    `xorm:"bigint[] notnull 'ids'"`
}

// xormIDs is an array. xorm does not ask a slice for its Value.
type xormIDs shop.IDs

func (l xormIDs) ToDB() ([]byte, error) {
	v, err := shop.IDs(l).Value()
	text, _ := v.(string)
	return []byte(text), err
}

func (l *xormIDs) FromDB(text []byte) error { return (*shop.IDs)(l).Scan(text) }

func (xormList) TableName() string  { return "lists" }
func (xormOrder) TableName() string { return "orders" }
func (xormLine) TableName() string  { return "order_lines" }

type xormStore struct {
	engine *xorm.Engine
	src    source
	kind   string
}

func (s xormStore) Insert(ctx context.Context, orders []shop.Order) error {
	if err := shop.Assign(ctx, s.src, orders); err != nil {
		return err
	}
	var rows []xormOrder
	for _, o := range orders {
		rows = append(rows, xormOrder{o.ID, o.Number, o.Customer, o.ParentID})
	}
	var lines []xormLine
	for _, l := range shop.Lines(orders) {
		lines = append(lines, xormLine(l))
	}
	_, err := s.engine.Transaction(func(tx *xorm.Session) (any, error) {
		if _, err := tx.Context(ctx).Insert(&rows); err != nil {
			return nil, err
		}
		return tx.Context(ctx).Insert(&lines)
	})
	return err
}

func (s xormStore) Upsert(ctx context.Context, order *shop.Order) error {
	one := []shop.Order{*order}
	if err := shop.Assign(ctx, s.src, one); err != nil {
		return err
	}
	if _, err := s.engine.Context(ctx).Exec("INSERT INTO orders (id, number, customer, parent_id) VALUES (?, ?, ?, ?) "+put(s.kind),
		one[0].ID, order.Number, order.Customer, order.ParentID); err != nil {
		return err
	}
	_, err := s.engine.Context(ctx).Table("orders").Cols("id").Where("number = ?", order.Number).Get(&order.ID)
	return err
}

func (s xormStore) Orders(ctx context.Context, keys []shop.OrderKey) (orders []shop.Order, err error) {
	var rows []xormOrder
	if err := s.engine.Context(ctx).In("id", keys).Asc("id").Find(&rows); err != nil {
		return nil, err
	}
	for _, r := range rows {
		orders = append(orders, shop.Order{ID: r.ID, Number: r.Number, Customer: r.Customer, ParentID: r.ParentID})
	}
	var found []xormLine
	err = s.engine.Context(ctx).In("order_id", keys).Asc("id").Find(&found)
	return shop.Join(orders, converted(found, func(l xormLine) shop.Line { return shop.Line(l) })), err
}

func (s xormStore) Roots(ctx context.Context) (keys []shop.OrderKey, err error) {
	err = s.engine.Context(ctx).Table("orders").Cols("id").Where("parent_id IS NULL").Asc("id").Find(&keys)
	return keys, err
}

func (s xormStore) Row(ctx context.Context, key shop.OrderKey) (any, error) {
	var row xormOrder
	_, err := s.engine.Context(ctx).ID(key).Get(&row)
	return row, err
}

func (s xormStore) InsertList(ctx context.Context, id sqltype.ID, ids []sqltype.ID) error {
	_, err := s.engine.Context(ctx).Insert(&xormList{id, ids})
	return err
}

func (s xormStore) ListsWith(ctx context.Context, id sqltype.ID) ([][]sqltype.ID, error) {
	var rows []xormList
	err := s.engine.Context(ctx).Where("? = ANY(ids)", id).Find(&rows)
	return converted(rows, func(l xormList) []sqltype.ID { return l.IDs }), err
}
