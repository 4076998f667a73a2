// Package snowclose has generators that nothing closes.
package snowclose

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"log"
	"os"
	"os/signal"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/memstore"
	"github.com/seed-299c1d6b/snowkey/worker/redisstore"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

func leased(ctx context.Context, store *memstore.Store) error {
	gen, err := worker.Open(ctx, store, worker.Config{}) // want `nothing closes the generator gen`
	if err != nil {
		return err
	}
	_, err = gen.Next(ctx)
	return err
}

func overRedis(ctx context.Context, eval redisstore.EvalFunc) error {
	gen, err := redisstore.Open(ctx, eval, worker.Config{}) // want `nothing closes the generator gen`
	if err != nil {
		return err
	}
	_, err = gen.Next(ctx)
	return err
}

func dropped(ctx context.Context, db *sql.DB) error {
	_, err := sqlstore.Open(ctx, db, worker.Config{}) // want `the generator is dropped`
	return err
}

type service struct {
	gen    *worker.Generator
	closed *worker.Generator
}

func newService(ctx context.Context, db *sql.DB) (*service, error) {
	gen, err := sqlstore.Open(ctx, db, worker.Config{}) // want `nothing closes the generator gen`
	if err != nil {
		return nil, err
	}
	return &service{gen: gen}, nil
}

type pair struct{ first, second *worker.Generator }

func newPair(ctx context.Context, db *sql.DB) (*pair, error) {
	gen, err := sqlstore.Open(ctx, db, worker.Config{}) // want `nothing closes the generator gen`
	if err != nil {
		return nil, err
	}
	return &pair{gen, nil}, nil
}

func (s *service) next(ctx context.Context) (int64, error) { return s.gen.Next(ctx) }

func exits(ctx context.Context, db *sql.DB) {
	gen, err := sqlstore.Open(ctx, db, worker.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer gen.Close(context.Background())
	if _, err := gen.Next(ctx); err != nil {
		log.Fatal(err) // want `log.Fatal ends the process without the deferred Close of gen`
	}
	os.Exit(0) // want `os.Exit ends the process without the deferred Close of gen`
}

func signalled(db *sql.DB) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	gen, err := sqlstore.Open(ctx, db, worker.Config{})
	if err != nil {
		return err
	}
	defer gen.Close(ctx) // want `the context ctx may be done when this runs`
	_, err = gen.Next(ctx)
	return err
}

func returns(ctx context.Context, db *sql.DB, r io.Reader) error {
	gen, err := sqlstore.Open(ctx, db, worker.Config{}) // want `a return leaves the generator gen open`
	if err != nil {
		return err
	}
	if _, err := io.ReadAll(r); err != nil {
		return err
	}
	_, err = gen.Next(ctx)
	return errors.Join(err, gen.Close(ctx))
}

func installed(ctx context.Context, db *gorm.DB) error {
	var plugin gormplugin.Plugin
	if err := db.Use(&plugin); err != nil { // want `nothing closes the plugin plugin`
		return err
	}
	if err := plugin.Generator().Failing(); err != nil {
		return err
	}
	_, err := plugin.Next(ctx)
	return err
}

func installedWith(db *gorm.DB) (*gorm.DB, error) {
	plugin := gormplugin.New(gormplugin.Config{Strict: true})
	return db, db.Use(plugin) // want `nothing closes the plugin plugin`
}

func installedZero(db *gorm.DB) error {
	return errors.Join(
		db.Use(gormplugin.New(gormplugin.Config{})), // want `the plugin is dropped`
		db.Use(&gormplugin.Plugin{}),                // want `the plugin is dropped`
		db.Use(new(gormplugin.Plugin)),              // want `the plugin is dropped`
	)
}

func returnsInstalled(ctx context.Context, db *gorm.DB, r io.Reader) error {
	plugin := gormplugin.New(gormplugin.Config{})
	if err := db.Use(plugin); err != nil { // want `a return leaves the plugin plugin open`
		return err
	}
	if _, err := io.ReadAll(r); err != nil {
		return err
	}
	return plugin.Close(ctx)
}

// None of these is a fault.

func plugins(db, second, third *gorm.DB, given *gormplugin.Plugin, cfg gormplugin.Config) (*gormplugin.Plugin, error) {
	var zero gormplugin.Plugin
	if err := db.Use(&zero); err != nil {
		return nil, err
	}
	defer zero.Close(context.Background())
	sharing := gormplugin.New(gormplugin.Config{Source: &zero})
	unknown := gormplugin.New(cfg)
	kept := gormplugin.New(gormplugin.Config{})
	return kept, errors.Join(second.Use(sharing), third.Use(gormplugin.New(gormplugin.Config{Source: &zero})), second.Use(given), db.Use(unknown), db.Use(kept))
}

func byGenerator(db *gorm.DB) error {
	plugin := gormplugin.New(gormplugin.Config{})
	if err := db.Use(plugin); err != nil {
		return err
	}
	return plugin.Generator().Close(context.Background())
}

func deferred(ctx context.Context, store *memstore.Store) (err error) {
	gen, err := worker.Open(ctx, store, worker.Config{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, gen.Close(context.Background())) }()
	_, err = gen.Next(ctx)
	return err
}

func returned(ctx context.Context, db *sql.DB) (*worker.Generator, error) {
	return sqlstore.Open(ctx, db, worker.Config{})
}

func newClosed(ctx context.Context, db *sql.DB) (*service, error) {
	gen, err := sqlstore.Open(ctx, db, worker.Config{})
	if err != nil {
		return nil, err
	}
	return &service{closed: gen}, nil
}

func (s *service) Close(ctx context.Context) error { return s.closed.Close(ctx) }

func given(ctx context.Context, db *sql.DB, keep func(io.Closer, any)) error {
	gen, err := sqlstore.Open(ctx, db, worker.Config{})
	if err != nil {
		return err
	}
	keep(nil, gen)
	return nil
}

func everyReturn(ctx context.Context, db *sql.DB, r io.Reader) error {
	gen, err := sqlstore.Open(ctx, db, worker.Config{})
	if err != nil {
		return err
	}
	if _, err := io.ReadAll(r); err != nil {
		gen.Close(ctx)
		return err
	}
	_, err = gen.Next(ctx)
	return errors.Join(err, gen.Close(ctx))
}

// shared lives as long as the program.
var shared, errShared = core.New(core.Config{Worker: core.Fixed(1)})

// unleased has no worker ID to release.
func unleased(ctx context.Context) (int64, error) {
	gen, err := core.New(core.Config{Worker: core.Fixed(2)})
	if err != nil {
		return 0, err
	}
	return gen.Next(ctx)
}
