// Package snowclose has leases and generators that nothing closes.
package snowclose

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"log"
	"os"
	"os/signal"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/memstore"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

func lease(ctx context.Context, store *memstore.Store) error {
	lease, err := worker.Acquire(ctx, store, worker.Config{}) // want `nothing closes the lease lease`
	if err != nil {
		return err
	}
	gen, err := core.New(core.Config{Worker: lease})
	if err != nil {
		return err
	}
	defer gen.Close()
	_, err = gen.Next(ctx)
	return err
}

func dropped(ctx context.Context, db *sql.DB) error {
	_, err := sqlstore.Open(ctx, db, sqlstore.OpenConfig{}) // want `the generator is dropped`
	return err
}

type service struct {
	gen    *sqlstore.Generator
	closed *sqlstore.Generator
}

func newService(ctx context.Context, db *sql.DB) (*service, error) {
	gen, err := sqlstore.Open(ctx, db, sqlstore.OpenConfig{}) // want `nothing closes the generator gen`
	if err != nil {
		return nil, err
	}
	return &service{gen: gen}, nil
}

type pair struct{ first, second *sqlstore.Generator }

func newPair(ctx context.Context, db *sql.DB) (*pair, error) {
	gen, err := sqlstore.Open(ctx, db, sqlstore.OpenConfig{}) // want `nothing closes the generator gen`
	if err != nil {
		return nil, err
	}
	return &pair{gen, nil}, nil
}

func (s *service) next(ctx context.Context) (int64, error) { return s.gen.Next(ctx) }

func exits(ctx context.Context, db *sql.DB) {
	gen, err := sqlstore.Open(ctx, db, sqlstore.OpenConfig{})
	if err != nil {
		log.Fatal(err)
	}
	defer gen.Close(context.Background())
	if _, err := gen.Next(ctx); err != nil {
		log.Fatal(err) // want `log.Fatal ends the process without the deferred Close of the generator gen`
	}
	os.Exit(0) // want `os.Exit ends the process without the deferred Close of the generator gen`
}

func signalled(db *sql.DB) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	gen, err := sqlstore.Open(ctx, db, sqlstore.OpenConfig{})
	if err != nil {
		return err
	}
	defer gen.Close(ctx) // want `the context ctx may be done when this runs`
	_, err = gen.Next(ctx)
	return err
}

func returns(ctx context.Context, db *sql.DB, r io.Reader) error {
	gen, err := sqlstore.Open(ctx, db, sqlstore.OpenConfig{}) // want `a return leaves the generator gen open`
	if err != nil {
		return err
	}
	if _, err := io.ReadAll(r); err != nil {
		return err
	}
	_, err = gen.Next(ctx)
	return errors.Join(err, gen.Close(ctx))
}

// None of these is a fault.

func deferred(ctx context.Context, store *memstore.Store) (err error) {
	lease, err := worker.Acquire(ctx, store, worker.Config{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lease.Close()) }()
	gen, err := core.New(core.Config{Worker: lease})
	if err != nil {
		return err
	}
	_, err = gen.Next(ctx)
	return err
}

func returned(ctx context.Context, db *sql.DB) (*sqlstore.Generator, error) {
	return sqlstore.Open(ctx, db, sqlstore.OpenConfig{})
}

func newClosed(ctx context.Context, db *sql.DB) (*service, error) {
	gen, err := sqlstore.Open(ctx, db, sqlstore.OpenConfig{})
	if err != nil {
		return nil, err
	}
	return &service{closed: gen}, nil
}

func (s *service) Close(ctx context.Context) error { return s.closed.Close(ctx) }

func given(ctx context.Context, db *sql.DB, keep func(io.Closer, any)) error {
	gen, err := sqlstore.Open(ctx, db, sqlstore.OpenConfig{})
	if err != nil {
		return err
	}
	keep(nil, gen)
	return nil
}

func everyReturn(ctx context.Context, db *sql.DB, r io.Reader) error {
	gen, err := sqlstore.Open(ctx, db, sqlstore.OpenConfig{})
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
