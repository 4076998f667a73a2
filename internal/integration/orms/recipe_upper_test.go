package orms

import (
	"context"

	udb "github.com/upper/db/v4"

	"github.com/seed-299c1d6b/snowkey/internal/integration/orms/shop"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type upperStore struct {
	session udb.Session
	src     source
	kind    string
}

func (s upperStore) Insert(ctx context.Context, orders []shop.Order) error {
	if err := shop.Assign(ctx, s.src, orders); err != nil {
		return err
	}
	return s.session.WithContext(ctx).Tx(func(tx udb.Session) error {
		for _, o := range orders {
			if _, err := tx.Collection("orders").Insert(o); err != nil {
				return err
			}
		}
		for _, l := range shop.Lines(orders) {
			if _, err := tx.Collection("order_lines").Insert(l); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s upperStore) Upsert(ctx context.Context, order *shop.Order) error {
	one := []shop.Order{*order}
	if err := shop.Assign(ctx, s.src, one); err != nil {
		return err
	}
	session := s.session.WithContext(ctx)
	if _, err := session.SQL().Exec("INSERT INTO orders (id, number, customer, parent_id) VALUES (?, ?, ?, ?) "+put(s.kind),
		one[0].ID, order.Number, order.Customer, order.ParentID); err != nil {
		return err
	}
	var row shop.Order
	err := session.Collection("orders").Find(udb.Cond{"number": order.Number}).One(&row)
	order.ID = row.ID
	return err
}

func (s upperStore) Orders(ctx context.Context, keys []shop.OrderKey) (orders []shop.Order, err error) {
	session := s.session.WithContext(ctx)
	if err := session.Collection("orders").Find(udb.Cond{"id IN": keys}).OrderBy("id").All(&orders); err != nil {
		return nil, err
	}
	var lines []shop.Line
	err = session.Collection("order_lines").Find(udb.Cond{"order_id IN": keys}).OrderBy("id").All(&lines)
	return shop.Join(orders, lines), err
}

func (s upperStore) Roots(ctx context.Context) (keys []shop.OrderKey, err error) {
	var orders []shop.Order
	err = s.session.WithContext(ctx).Collection("orders").Find(udb.Cond{"parent_id IS": nil}).OrderBy("id").All(&orders)
	for _, o := range orders {
		keys = append(keys, o.ID)
	}
	return keys, err
}

func (s upperStore) Row(ctx context.Context, key shop.OrderKey) (any, error) {
	var row shop.Order
	err := s.session.WithContext(ctx).Collection("orders").Find(udb.Cond{"id": key}).One(&row)
	return row, err
}

func (s upperStore) InsertList(ctx context.Context, id sqltype.ID, ids []sqltype.ID) error {
	_, err := s.session.WithContext(ctx).Collection("lists").Insert(shop.List{ID: id, IDs: ids})
	return err
}

func (s upperStore) ListsWith(ctx context.Context, id sqltype.ID) ([][]sqltype.ID, error) {
	var rows []shop.List
	err := s.session.WithContext(ctx).Collection("lists").Find(udb.Raw("? = ANY(ids)", id)).All(&rows)
	return converted(rows, func(l shop.List) []sqltype.ID { return l.IDs }), err
}
