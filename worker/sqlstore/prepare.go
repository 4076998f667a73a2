package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
)

// The tables, by their places in DDL.
const (
	spaceTable = iota
	workerTable
	counterTable
	tables // how many there are
)

// prepare looks at the database, once: which it is, whether it keeps what it
// commits, and whether the tables of the leases are there.
func (s *Store) prepare(ctx context.Context) (*statements, error) {
	return s.prepareTables(ctx, spaceTable, workerTable)
}

// prepareTables looks at the database, once, and at each of these tables.
func (s *Store) prepareTables(ctx context.Context, numbers ...int) (*statements, error) {
	if s == nil || s.db == nil {
		return nil, &worker.ConfigError{Faults: []core.Fault{{Field: "db", Value: "nil", Reason: "must be an open *sql.DB, given to New"}}}
	}
	if err := s.wait(ctx); err != nil {
		return nil, err
	}
	defer s.done()
	if s.ready == nil {
		cfg, err := s.look(ctx)
		if err != nil {
			return nil, err
		}
		st := cfg.statements()
		if st.galera, err = s.galera(ctx, cfg.Dialect); err != nil {
			return nil, err
		}
		s.cfg, s.ready = cfg, st
	}
	for _, i := range numbers {
		if s.there[i] {
			continue
		}
		if err := s.create(ctx, s.cfg, i); err != nil {
			return nil, err
		}
		s.there[i] = true
	}
	return s.ready, nil
}

// look finds out what the configuration leaves open, and whether the database
// keeps what it commits.
func (s *Store) look(ctx context.Context) (Config, error) {
	cfg, err := s.cfg.check()
	if err != nil {
		return cfg, err
	}
	if cfg.Dialect == Detect {
		if cfg.Dialect, err = s.detect(ctx); err != nil {
			return cfg, err
		}
	}
	if !cfg.AllowLossy {
		if err := s.durable(ctx, cfg); err != nil {
			return cfg, err
		}
	}
	return cfg, nil
}

// wait is for this goroutine's turn with what the store has found out. Another one may
// be asking the database, with a context that lasts longer than this one's.
func (s *Store) wait(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("sqlstore: wait for the first look at the database: %w", ctx.Err())
	}
}

func (s *Store) done() { <-s.turn }

// detect asks which database it is. Only SQLite knows sqlite_version.
func (s *Store) detect(ctx context.Context) (Dialect, error) {
	var version string
	if s.db.QueryRowContext(ctx, "SELECT sqlite_version()").Scan(&version) == nil {
		return SQLite, nil
	}
	if err := s.db.QueryRowContext(ctx, "SELECT version()").Scan(&version); err != nil {
		return 0, fmt.Errorf("sqlstore: ask the database what it is: %w", err)
	}
	if strings.HasPrefix(version, "PostgreSQL") {
		return Postgres, nil
	}
	if version == "" || version[0] < '0' || version[0] > '9' {
		return 0, &worker.ConfigError{Faults: []core.Fault{{Field: "Dialect", Value: "Detect", Reason: fmt.Sprintf("cannot tell what %q speaks: set the one it is compatible with", version)}}}
	}
	return MySQL, nil
}

// suffixes of the tables, in the order of DDL.
var suffixes = [tables]string{"_space", "", "_counter"}

// create sees to it that the table of this number in DDL is there, and is kept.
func (s *Store) create(ctx context.Context, cfg Config, number int) error {
	ddl, err := cfg.DDL()
	if err != nil {
		return err
	}
	if err := s.createOne(ctx, cfg, suffixes[number], ddl[number]); err != nil {
		return err
	}
	return s.kept(ctx, cfg, suffixes[number])
}

// createOne sees to it that a table is there.
func (s *Store) createOne(ctx context.Context, cfg Config, suffix, ddl string) error {
	// Who may not create tables can still use one that is there.
	missing := s.probe(ctx, cfg.Dialect, cfg.table(suffix))
	if missing == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if cfg.NoCreate {
		return fmt.Errorf("sqlstore: there is no table %s; create it by %s: %w", cfg.table(suffix), ddl, missing)
	}
	if _, err := s.db.ExecContext(ctx, ddl); err != nil {
		if s.probe(ctx, cfg.Dialect, cfg.table(suffix)) == nil {
			return nil // another process was first
		}
		return fmt.Errorf("sqlstore: create the table, or let somebody do so who may, by %s: %w", ddl, err)
	}
	return nil
}

func (s *Store) probe(ctx context.Context, d Dialect, table string) error {
	return s.alone(ctx, d, func(q querier) error {
		rows, err := q.QueryContext(ctx, "SELECT 1 FROM "+table+" WHERE 1 = 0")
		if err != nil {
			return err
		}
		defer rows.Close()
		return errors.Join(rows.Err(), rows.Close())
	})
}
