package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/logger"

	"github.com/seed-299c1d6b/snowkey/sqltype"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// chunk keeps statements below every database's limit of parameters.
const chunk = 500

// result is what a load has done.
type result struct {
	orders, lines, customers, skipped int
	statements                        int64
	took                              time.Duration
}

// load writes the input: the customers that are new, then each order with its
// lines in a transaction of its own. Orders that are in the database already are
// left alone, so a load that was cut off can be run again.
func load(ctx context.Context, db *gorm.DB, gen *sqlstore.Generator, in *input, sent *statements, tick func(done int)) (result, error) {
	db = db.WithContext(ctx)
	began, before := time.Now(), sent.n.Load()
	var res result
	orders, err := onlyNew(db, in.orders)
	if err != nil {
		return res, err
	}
	res.skipped = len(in.orders) - len(orders)
	if res.customers, err = saveCustomers(db, in.customers); err != nil {
		return res, err
	}
	// The keys of all masters and details, from one reservation, before the
	// first row is written.
	if err := sqltype.Assign(ctx, gen, orders, func(o *Order) *sqltype.ID { return &o.ID }, sqltype.Children(
		func(o *Order) []OrderLine { return o.Lines },
		func(l *OrderLine) *sqltype.ID { return &l.ID },
		func(l *OrderLine) *sqltype.ID { return &l.OrderID },
	)); err != nil {
		return res, err
	}
	for i := range orders {
		o := &orders[i]
		o.CustomerID = o.Customer.ID
		err := db.Transaction(func(tx *gorm.DB) error {
			if err := tx.Omit(clause.Associations).Create(o).Error; err != nil {
				return err
			}
			return tx.CreateInBatches(&o.Lines, chunk).Error
		})
		if ctx.Err() != nil && err != nil {
			return res, fmt.Errorf("interrupted: %d of %d orders were written, each with all its lines; run it again to go on", i, len(orders))
		}
		if err != nil {
			return res, fmt.Errorf("order %s: %w; %d of %d orders were written, each with all its lines", o.Number, oneLine(err), i, len(orders))
		}
		res.orders++
		res.lines += len(o.Lines)
		tick(i + 1)
	}
	res.took = time.Since(began)
	res.statements = sent.n.Load() - before + 2*int64(res.orders) // BEGIN and COMMIT pass by the logger
	return res, nil
}

// onlyNew leaves out the orders whose numbers are in the database.
func onlyNew(db *gorm.DB, orders []Order) ([]Order, error) {
	known := map[string]bool{}
	for part := range slices.Chunk(orders, chunk) {
		numbers := make([]string, len(part))
		for i, o := range part {
			numbers[i] = o.Number
		}
		var found []string
		if err := db.Model(&Order{}).Where("number IN ?", numbers).Pluck("number", &found).Error; err != nil {
			return nil, fmt.Errorf("looking for orders: %w", oneLine(err))
		}
		for _, n := range found {
			known[n] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(orders), func(o Order) bool { return known[o.Number] }), nil
}

// saveCustomers gives every customer the key it has in the database, and makes
// those that are new; the plugin fills their keys.
func saveCustomers(db *gorm.DB, customers map[string]*Customer) (created int, err error) {
	var missing []*Customer
	for emails := range slices.Chunk(slices.Sorted(maps.Keys(customers)), chunk) {
		for i, key := range emails {
			emails[i] = customers[key].Email
		}
		var found []Customer
		if err := db.Where("email IN ?", emails).Find(&found).Error; err != nil {
			return 0, fmt.Errorf("looking for customers: %w", oneLine(err))
		}
		for _, c := range found {
			if known, ok := customers[strings.ToLower(c.Email)]; ok {
				known.ID = c.ID
			}
		}
		for _, email := range emails {
			if c := customers[strings.ToLower(email)]; c.ID == 0 {
				missing = append(missing, c)
			}
		}
	}
	if len(missing) == 0 {
		return 0, nil
	}
	if err := db.CreateInBatches(missing, chunk).Error; err != nil {
		return 0, fmt.Errorf("writing customers: %w", oneLine(err))
	}
	return len(missing), nil
}

// statements counts what gorm sends and keeps it from logging what is returned
// as an error anyway.
type statements struct {
	logger.Interface
	n atomic.Int64
}

func countStatements() *statements { return &statements{Interface: logger.Discard} }

// LogMode keeps the counter: gorm asks for a logger of another level now and then.
func (s *statements) LogMode(logger.LogLevel) logger.Interface { return s }

// Trace is called once for each statement.
func (s *statements) Trace(context.Context, time.Time, func() (string, int64), error) { s.n.Add(1) }
