package sqlstore

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/fields"
	"github.com/seed-299c1d6b/snowkey/worker/internal/bounded"
)

// The tables, by their places in DDL.
const (
	spaceTable = iota
	workerTable
	counterTable
	tables // how many there are
)

// found is what is known about the database. It is immutable: a call that finds out more
// makes a new one.
type found struct {
	st    *statements
	there [tables]bool // which tables exist, and survive a crash
}

// has reports whether all these tables have been seen.
func (f *found) has(numbers ...int) bool {
	for _, i := range numbers {
		if f == nil || !f.there[i] {
			return false
		}
	}
	return true
}

// prepare looks at the database, once: which it is, whether it keeps what it
// commits, and whether the tables of the leases are there.
func (s *Store) prepare(ctx context.Context) (*statements, error) {
	return s.prepareTables(ctx, spaceTable, workerTable)
}

// linger is how long the first look at a database continues after its caller's context is
// done. With a distant database it takes longer than one attempt; the next attempt then
// finds it done, and a connection open.
const linger = 3 * time.Second

// check returns an error unless New made the store.
func (s *Store) check() error {
	if s == nil || s.db == nil {
		return fields.Error("sqlstore", "Store", nil, "must come from sqlstore.New")
	}
	return nil
}

// prepareTables looks at the database, once, and at each of these tables. One caller does
// so at a time, and each step that succeeds is remembered.
func (s *Store) prepareTables(ctx context.Context, numbers ...int) (*statements, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if f := s.found.Load(); f.has(numbers...) {
		return f.st, nil
	}
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, s.undone(ctx.Err())
	}
	done := make(chan error, 1)
	go func() {
		defer func() { <-s.turn }()
		ctx, end := outlive(ctx, linger)
		defer end()
		_, err := bounded.Caught(func() (*statements, error) { return nil, s.look(ctx, numbers) })
		s.failed.Store(&err)
		done <- err
	}()
	select {
	case err := <-done:
		if err != nil {
			return nil, err
		}
		return s.found.Load().st, nil
	case <-ctx.Done():
		return nil, s.undone(ctx.Err())
	}
}

// undone is the error of a caller that stops waiting for the first look.
func (s *Store) undone(done error) error {
	if err := s.failed.Load(); err != nil && *err != nil {
		return fmt.Errorf("sqlstore: wait for the first look at the database: %w; the one before failed: %w", done, *err)
	}
	return fmt.Errorf("sqlstore: wait for the first look at the database: %w", done)
}

// outlive makes a context that is done a given time after ctx.
func outlive(ctx context.Context, by time.Duration) (longer context.Context, end func()) {
	longer, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		timer := time.NewTimer(by)
		defer timer.Stop()
		select {
		case <-timer.C:
			cancel(ctx.Err())
		case <-longer.Done():
		}
	})
	return longer, func() { stop(); cancel(nil) }
}

// look finds out what is not known yet.
func (s *Store) look(ctx context.Context, numbers []int) error {
	now := found{}
	if before := s.found.Load(); before != nil {
		now = *before
	} else if err := s.first(ctx, &now); err != nil {
		return err
	}
	err := s.prepareEach(ctx, now.st.cfg, numbers, &now.there)
	s.found.Store(&now)
	return err
}

// first finds out what the configuration leaves open, and whether the database
// keeps what it commits.
func (s *Store) first(ctx context.Context, now *found) error {
	cfg, err := s.cfg, error(nil)
	if cfg.Dialect == Detect {
		if cfg.Dialect, err = s.detect(ctx); err != nil {
			return err
		}
	}
	s.cfg = cfg
	if !cfg.AllowDataLoss && !s.safe {
		if err := s.durable(ctx, cfg); err != nil {
			return err
		}
		s.safe = true
	}
	st := cfg.statements()
	if st.galera, err = s.galera(ctx, cfg.Dialect); err != nil {
		return err
	}
	now.st = st
	return nil
}

// detect asks which database it is. Only SQLite does not know version(), and only SQLite
// knows sqlite_version().
func (s *Store) detect(ctx context.Context) (Dialect, error) {
	var version string
	shown, err := s.setting(ctx, Detect, "SELECT version()", &version)
	if err == nil && !shown {
		if shown, err = s.setting(ctx, Detect, "SELECT sqlite_version()", &version); shown {
			return SQLite, nil
		}
	}
	switch {
	case err != nil:
		return 0, fmt.Errorf("sqlstore: ask the database what it is: %w", err)
	case !shown:
		return 0, unknownDialect("the database knows neither version() nor sqlite_version()")
	}
	if strings.HasPrefix(version, "PostgreSQL") {
		return Postgres, nil
	}
	if version == "" || version[0] < '0' || version[0] > '9' {
		return 0, unknownDialect(fmt.Sprintf("cannot tell what %q speaks", version))
	}
	return MySQL, nil
}

func unknownDialect(why string) error {
	return &core.ConfigError{Package: "sqlstore", Fields: []core.FieldError{{Field: "Dialect", Value: "Detect", Reason: why + ": set Postgres, MySQL or SQLite, whichever it is compatible with"}}}
}
