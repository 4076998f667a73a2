package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-299c1d6b/snowkey/internal/fields"
)

// inspected is what is known about the database. It is immutable: a call that learns more makes
// a new one.
type inspected struct {
	st     *statements
	tables [tables]bool // which tables exist, and survive a crash
}

func (i *inspected) has(wanted ...table) bool {
	return !slices.ContainsFunc(wanted, func(t table) bool { return i == nil || !i.tables[t] })
}

// inspectionGrace is how long an inspection continues after its caller's context is done. With a
// distant database it takes longer than one attempt; the next attempt then finds it done, and a
// connection open.
const inspectionGrace = 3 * time.Second

// prepare inspects the database, once: its dialect, its settings, and these tables. One caller
// does so at a time, and each step that succeeds is remembered.
func (s *Store) prepare(ctx context.Context, wanted ...table) (*statements, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if i := s.inspected.Load(); i.has(wanted...) {
		return i.st, nil
	}
	if err := s.lockInspection(ctx); err != nil {
		return nil, err
	}
	done := make(chan error, 1)
	go func() {
		defer func() { <-s.inspecting }()
		ctx, end := outlive(ctx, inspectionGrace)
		defer end()
		err := s.inspect(ctx, wanted)
		s.lastFailed.Store(&err)
		done <- err
	}()
	select {
	case err := <-done:
		if err != nil {
			return nil, err
		}
		return s.inspected.Load().st, nil
	case <-ctx.Done():
		return nil, s.inspectionError(ctx.Err())
	}
}

func (s *Store) lockInspection(ctx context.Context) error {
	select {
	case s.inspecting <- struct{}{}:
		return nil
	case <-ctx.Done():
		return s.inspectionError(ctx.Err())
	}
}

// inspectionError is the error of a caller whose context is done before the inspection.
func (s *Store) inspectionError(done error) error {
	if err := s.lastFailed.Load(); err != nil && *err != nil {
		return fmt.Errorf("sqlstore: inspect the database: %w; the inspection before failed: %w", done, *err)
	}
	return fmt.Errorf("sqlstore: inspect the database: %w", done)
}

// outlive returns a context that is done a given time after ctx.
func outlive(ctx context.Context, by time.Duration) (longer context.Context, end func()) {
	longer, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(by, func() { cancel(ctx.Err()) }) })
	return longer, func() { stop(); cancel(nil) }
}

// inspect learns what is not known yet.
func (s *Store) inspect(ctx context.Context, wanted []table) (err error) {
	defer func() {
		if p := recover(); p != nil { // the caller is in another goroutine and could not
			err = fmt.Errorf("sqlstore: inspect the database: the driver panicked: %v", p)
		}
	}()
	now := inspected{}
	if before := s.inspected.Load(); before != nil {
		now = *before
	} else if now.st, err = s.inspectServer(ctx); err != nil {
		return err
	}
	err = s.prepareTables(ctx, now.st.cfg, wanted, &now.tables)
	s.inspected.Store(&now)
	return err
}

// inspectServer learns the dialect and the settings.
func (s *Store) inspectServer(ctx context.Context) (*statements, error) {
	cfg := s.cfg
	if cfg.Dialect == Detect {
		var err error
		if cfg.Dialect, err = s.detect(ctx); err != nil {
			return nil, err
		}
	}
	s.cfg = cfg
	if !cfg.AllowDataLoss && !s.durable {
		if err := s.checkDurability(ctx, cfg); err != nil {
			return nil, err
		}
		s.durable = true
	}
	st := cfg.statements()
	var err error
	st.galera, err = s.isGalera(ctx, cfg.Dialect)
	return st, err
}

// detect asks the database for its dialect. Only SQLite has no version(), and only SQLite has
// sqlite_version().
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
		return 0, fmt.Errorf("sqlstore: ask the database for its version: %w", err)
	case !shown:
		return 0, unknownDialect("the database has neither version() nor sqlite_version()")
	case strings.HasPrefix(version, "PostgreSQL"):
		return Postgres, nil
	case version == "" || version[0] < '0' || version[0] > '9':
		return 0, unknownDialect(fmt.Sprintf("the dialect of version %q is unknown", version))
	}
	return MySQL, nil
}

func unknownDialect(why string) error {
	return fields.Error("sqlstore", "Dialect", Detect, "%s: set Postgres, MySQL or SQLite, whichever the database is compatible with", why)
}

// isGalera reports whether the server is a node of a cluster that can wait for the others. Only
// MariaDB has the statement for it.
func (s *Store) isGalera(ctx context.Context, d Dialect) (on bool, err error) {
	if d != MySQL {
		return false, nil
	}
	shown, err := s.setting(ctx, d, "SELECT @@wsrep_on = 1 AND VERSION() LIKE '%MariaDB%'", &on)
	if err != nil {
		return false, fmt.Errorf("sqlstore: ask whether the server is a node of Galera: %w", err)
	}
	return on && shown, nil // other servers have no such variable
}

// setting reads a setting by a query. The setting is hidden if the database says that it does
// not exist, or if the query fails twice and the same connection then answers another query.
// Otherwise the connection may have been lost, and the setting is unknown. SQLite hides nothing,
// but a schema that does not exist has no settings.
func (s *Store) setting(ctx context.Context, d Dialect, query string, into any) (shown bool, err error) {
	const maxTries = 4
	refused := 0
	for range maxTries {
		var answers bool
		if answers, err = s.ask(ctx, query, into); err == nil {
			return true, nil
		}
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		if unknownVariable(err) {
			return false, nil
		}
		if answers && (d != SQLite || errors.Is(err, sql.ErrNoRows)) {
			if refused++; refused == 2 {
				return false, nil
			}
		}
	}
	return false, err
}

// ask runs a query of one value. If it fails, answers reports whether the connection still
// works.
func (s *Store) ask(ctx context.Context, query string, into any) (answers bool, err error) {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return false, err
	}
	defer conn.Close()
	if err = conn.QueryRowContext(ctx, query).Scan(into); err == nil || unknownVariable(err) {
		return true, err
	}
	var one int
	return conn.QueryRowContext(ctx, "SELECT 1").Scan(&one) == nil, err
}

// settings reads several settings by one query, to save round trips, and returns them by their
// queries. If the query fails it returns none, and each is read by itself.
func (s *Store) settings(ctx context.Context, d Dialect, queries []string) map[string]string {
	if d == SQLite { // its settings are no expressions
		return nil
	}
	values := make([]string, len(queries))
	into := make([]any, len(queries))
	for i := range values {
		into[i] = &values[i]
	}
	if s.db.QueryRowContext(ctx, "SELECT ("+strings.Join(queries, "), (")+")").Scan(into...) != nil {
		return nil
	}
	all := make(map[string]string)
	for i, query := range queries {
		all[query] = values[i]
	}
	return all
}
