package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"
	"gorm.io/gorm/schema"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// service is what a process has: a database, a worker number and a generator.
type service struct {
	name   string // of the database, for people
	pools  []*sql.DB
	lease  *worker.Lease
	gen    *core.Generator
	orders *store
	log    *slog.Logger
	stop   func() // ends the cleaning of old keys
}

// config is what the command was told of the database.
type config struct {
	db         string // a DSN
	allowLossy bool   // it may lose a committed write
}

// newService opens the database, makes its tables, and claims a worker number.
func newService(ctx context.Context, cfg config, log *slog.Logger) (svc *service, err error) {
	base, err := open(ctx, cfg.db)
	if err != nil {
		return nil, err
	}
	svc = &service{name: base.name, pools: base.pools(), log: log, stop: func() {}}
	defer func() {
		if err != nil {
			err = errors.Join(err, svc.close())
			svc = nil
		}
	}()
	// The lease has connections of its own: it must be renewed also while
	// requests use up all of theirs.
	numbers, err := sqlstore.New(base.lease, sqlstore.Config{AllowDataLoss: cfg.allowLossy || base.gone})
	if err != nil {
		return svc, err
	}
	if svc.lease, err = worker.Acquire(ctx, numbers, worker.Config{Namespace: "jsonapi", Observer: core.LogTo(log)}); err != nil {
		var lossy *worker.DurabilityError
		if errors.As(err, &lossy) {
			err = fmt.Errorf("%w (here: -allow-lossy)", err)
		}
		return svc, fmt.Errorf("claiming a worker number: %w", err)
	}
	if svc.gen, err = core.New(core.Config{Worker: svc.lease}); err != nil {
		return svc, err
	}
	if svc.orders, err = newStore(ctx, base.dialector, svc.gen, svc.gen.Layout()); err != nil {
		return svc, err
	}
	svc.cleanHourly(ctx)
	return svc, nil
}

// newStore makes the tables of orders, whose keys come from the source.
func newStore(ctx context.Context, dialector gorm.Dialector, source gormplugin.Source, layout core.Layout) (*store, error) {
	plugin, err := gormplugin.New(gormplugin.Config{Source: source, Models: models(), Strict: true, Exempt: []any{Request{}}})
	if err != nil {
		return nil, err
	}
	db, err := gorm.Open(dialector, &gorm.Config{
		Logger: logger.Discard, DisableAutomaticPing: true, // what fails is logged with its request
		NamingStrategy: schema.NamingStrategy{TablePrefix: "jsonapi_"},
	})
	if err != nil {
		return nil, err
	}
	if err := db.Use(plugin); err != nil {
		return nil, err
	}
	if err := migrate(db.WithContext(ctx)); err != nil {
		return nil, fmt.Errorf("making the tables: %w", err)
	}
	return &store{db: db, layout: layout}, nil
}

// migrate tries again, for another process may be making the same tables.
func migrate(db *gorm.DB) (err error) {
	if db.Name() == "mysql" {
		db = db.Set("gorm:table_options", "ENGINE=InnoDB DEFAULT CHARSET=utf8mb4")
	}
	for range 5 {
		if err = db.AutoMigrate(models()...); err == nil {
			return nil
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-db.Statement.Context.Done():
			return err
		}
	}
	return err
}

// cleanHourly deletes idempotency keys that are older than a day.
func (s *service) cleanHourly(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	s.stop = func() { cancel(); <-done }
	go func() {
		defer close(done)
		tick := time.NewTicker(time.Hour)
		defer tick.Stop()
		for {
			if err := s.orders.forget(ctx, time.Now().Add(-keepKeys)); err != nil && ctx.Err() == nil {
				s.log.Warn("old idempotency keys stay for now", "error", err)
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
	}()
}

// close gives the worker number back, behind the last id, and then closes the
// database it came from.
func (s *service) close() error {
	var all []error
	s.stop()
	if s.gen != nil {
		all = append(all, s.gen.Close())
	}
	if s.lease != nil {
		all = append(all, s.lease.Close())
	}
	for _, pool := range s.pools {
		all = append(all, pool.Close())
	}
	return errors.Join(all...)
}
