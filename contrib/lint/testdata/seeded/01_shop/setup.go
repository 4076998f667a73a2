// Package shop keeps the customers and orders of a web shop.
package shop

import (
	"context"
	"errors"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// Open leases a worker ID and creates the tables. The caller closes the generator.
func Open(ctx context.Context, db *gorm.DB) (*worker.Generator, error) {
	gen, err := gormplugin.Open(ctx, db, gormplugin.Config{
		Exempt: []any{&TaxRate{}},
		Store:  sqlstore.Config{Lease: worker.Config{Namespace: "shop"}},
	}) // OK 08: returned to the caller, and closed on the other path
	if err != nil {
		return nil, err
	}
	err = db.WithContext(ctx).AutoMigrate(
		&Customer{}, &Address{}, &Product{}, &Voucher{}, &Order{}, &OrderLine{},
		&Country{}, &TaxRate{}, &Profile{}, &ProductVoucher{}, &Setting{},
	)
	if err != nil {
		return nil, errors.Join(err, gen.Close(context.WithoutCancel(ctx)))
	}
	return gen, nil
}

// AddVoucher makes a voucher for a product.
func AddVoucher(ctx context.Context, db *gorm.DB, code string, product uint64) (*Voucher, error) {
	v := &Voucher{Code: code, ProductID: product}
	return v, db.WithContext(ctx).Create(v).Error
}
