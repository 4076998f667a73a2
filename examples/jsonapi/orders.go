package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"time"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// keepKeys is how long a POST can be repeated under its Idempotency-Key.
const keepKeys = 24 * time.Hour

// store is the orders in the database.
type store struct {
	db     *gorm.DB
	layout core.Layout
}

// Errors that handlers answer with.
var (
	errKeyReused = newProblem(http.StatusUnprocessableEntity, "this Idempotency-Key was sent with another order before")
	errDeleted   = newProblem(http.StatusGone, "the order that this Idempotency-Key placed was deleted since")
)

// create writes an order and its lines in one transaction, and with them the
// idempotency key if there is one. Was the key there before, then the order that
// it placed is returned as it is now, and replayed is true.
func (s *store) create(ctx context.Context, d draft, key string) (o *Order, replayed bool, err error) {
	o = d.order()
	if o.ReorderOf != nil {
		_, err := s.get(ctx, *o.ReorderOf)
		if errors.Is(err, gorm.ErrRecordNotFound) {
			err = invalid(fault{"reorderOf", o.ReorderOf.String(), "there is no such order"})
		}
		if err != nil {
			return nil, false, err
		}
	}
	if key == "" {
		// Keys for all rows from one reservation, one INSERT for each table, one transaction.
		err = graph.Create(ctx, s.db, o)
		s.complete(o)
		return o, false, err
	}
	request := Request{Key: digest([]byte(key)), Body: d.digest(), Order: o}
	if placed, err := s.replay(ctx, request); placed != nil || err != nil {
		return placed, true, err
	}
	// The order belongs to the request, so they are one graph: the request's
	// primary key lets only one of two repetitions through.
	if err = graph.Create(ctx, s.db, &request); err != nil {
		// Was it the other one that got through? Or did this one, and only the
		// answer was lost? What is in the database says so.
		placed, errReplay := s.replay(ctx, request)
		if placed != nil || errors.Is(errReplay, errKeyReused) || errors.Is(errReplay, errDeleted) {
			return placed, true, errReplay
		}
		return o, false, err
	}
	s.complete(o)
	return o, false, nil
}

// replay finds the order that a key has placed; without one both results are nil.
func (s *store) replay(ctx context.Context, r Request) (*Order, error) {
	var known []Request
	err := s.db.WithContext(ctx).Where(&Request{Key: r.Key}).Limit(1).Find(&known).Error
	if err != nil || len(known) == 0 {
		return nil, err
	}
	if known[0].Body != r.Body {
		return nil, errKeyReused
	}
	o, err := s.get(ctx, known[0].OrderID)
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return nil, errDeleted
	}
	return o, err
}

// get reads one order; gorm.ErrRecordNotFound if there is none.
func (s *store) get(ctx context.Context, id sqltype.Key[Order]) (*Order, error) {
	var o Order
	if err := s.withLines(ctx).Take(&o, "id = ?", id).Error; err != nil {
		return nil, err
	}
	s.complete(&o)
	return &o, nil
}

// span is the part of the orders that is asked for: ids of [min, max), the
// newest first.
type span struct {
	min, max sqltype.ID
	limit    int
}

// list reads one page, and says whether there is more. A page is a range of the
// key's index, however far back it lies; what is added or deleted meanwhile moves
// no order from one page to another.
func (s *store) list(ctx context.Context, p span) (orders []Order, more bool, err error) {
	query := s.withLines(ctx).Where("id >= ?", p.min).Order("id DESC").Limit(p.limit + 1)
	if p.max != math.MaxInt64 {
		query = query.Where("id < ?", p.max)
	}
	if err := query.Find(&orders).Error; err != nil {
		return nil, false, err
	}
	if more = len(orders) > p.limit; more {
		orders = orders[:p.limit]
	}
	for i := range orders {
		s.complete(&orders[i])
	}
	return orders, more, nil
}

// remove deletes an order with its lines.
func (s *store) remove(ctx context.Context, id sqltype.Key[Order]) error {
	gone := s.db.WithContext(ctx).Delete(&Order{}, "id = ?", id)
	if gone.Error == nil && gone.RowsAffected == 0 {
		return gorm.ErrRecordNotFound
	}
	return gone.Error
}

// forget deletes the keys of requests before t. When they were made is in the
// ids of their orders.
func (s *store) forget(ctx context.Context, t time.Time) error {
	before, err := s.layout.FirstAt(t)
	if err != nil {
		return err
	}
	return s.db.WithContext(ctx).Where("order_id < ?", before).Delete(&Request{}).Error
}

// withLines is a query for orders with their lines.
func (s *store) withLines(ctx context.Context) *gorm.DB {
	return s.db.WithContext(ctx).Preload("Lines", func(db *gorm.DB) *gorm.DB { return db.Order("id") })
}

// complete works out what is not stored.
func (s *store) complete(o *Order) {
	if parts, err := s.layout.Decode(o.ID.Int64()); err == nil {
		o.PlacedAt = parts.Time
	}
	o.TotalCents = 0
	for _, l := range o.Lines {
		o.TotalCents += l.Quantity * l.PriceCents
	}
}

// digest of a draft is the same for the same order, however its JSON was written.
func (d draft) digest() string {
	text, _ := json.Marshal(d) // has strings and numbers only
	return digest(text)
}

func digest(text []byte) string { return fmt.Sprintf("%x", sha256.Sum256(text)) }
