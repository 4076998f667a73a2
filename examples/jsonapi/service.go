package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"
	"gorm.io/gorm/schema"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/sqltype"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// service has a database and a generator.
type service struct {
	database
	gen    *worker.Generator
	orders *store
	log    *slog.Logger
}

// newService opens the database, leases a worker ID, and creates the tables.
func newService(ctx context.Context, dsn string, log *slog.Logger) (svc *service, err error) {
	svc = &service{log: log}
	if svc.database, err = open(ctx, dsn); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, svc.close())
			svc = nil
		}
	}()
	svc.gen, err = sqlstore.Open(ctx, svc.lease, worker.Config{Namespace: "jsonapi", Observer: core.LogTo(log)})
	if err != nil {
		return svc, err
	}
	if svc.orders, err = newStore(ctx, svc.dialector, svc.gen, svc.gen.Layout()); err != nil {
		return svc, err
	}
	// Keys of requests that are older than a day, when this process starts. A real service does it daily.
	return svc, svc.orders.forget(ctx, time.Now().Add(-keepKeys))
}

// newStore creates the tables of orders, whose keys come from source.
func newStore(ctx context.Context, dialector gorm.Dialector, source sqltype.Source, layout core.Layout) (*store, error) {
	db, err := gorm.Open(dialector, &gorm.Config{
		Logger: logger.Discard, DisableAutomaticPing: true, // failed requests are logged
		NamingStrategy: schema.NamingStrategy{TablePrefix: "jsonapi_"},
	})
	if err != nil {
		return nil, err
	}
	if err := db.Use(gormplugin.New(gormplugin.Config{Source: source, Models: models(), Strict: true, Exempt: []any{Request{}}})); err != nil {
		return nil, err
	}
	if err := gormplugin.Migrator(db.WithContext(ctx)).AutoMigrate(models()...); err != nil {
		return nil, fmt.Errorf("creating the tables: %w", err)
	}
	return &store{db: db, layout: layout}, nil
}

// close releases the worker ID, and then closes both pools.
func (s *service) close() (err error) {
	if s.gen != nil {
		err = s.gen.Close(context.Background())
	}
	return errors.Join(err, s.lease.Close(), s.rows.Close())
}
