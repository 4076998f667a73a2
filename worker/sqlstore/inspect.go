package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-299c1d6b/snowkey/internal/fields"
	"github.com/seed-299c1d6b/snowkey/internal/retry"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// inspected is what is known about the database. It is immutable: a call that learns more makes
// a new one.
type inspected struct {
	st     *statements
	tables [tables]bool // which tables exist, and survive a crash
}

func (i *inspected) has(wanted ...table) bool {
	return i != nil && !slices.ContainsFunc(wanted, func(t table) bool { return !i.tables[t] })
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

// inspectServer learns the dialect, the schema and the settings, on one connection.
func (s *Store) inspectServer(ctx context.Context) (st *statements, err error) {
	err = s.onConnection(ctx, func(conn *sql.Conn) error {
		cfg := s.cfg
		if cfg.Dialect == Detect {
			if cfg.Dialect, err = detect(ctx, conn); err != nil {
				return err
			}
			s.cfg.Dialect = cfg.Dialect
		}
		if err := cfg.pinOn(ctx, conn); err != nil {
			return err
		}
		st = cfg.statements()
		st.simple = simple(conn)
		if st.galera, err = isGalera(ctx, conn, cfg.Dialect); err != nil || cfg.AllowDataLoss {
			return err
		}
		return st.inspectDurability(ctx, conn)
	})
	return st, err
}

// pinOn pins the table, see pin.
func (cfg *Config) pinOn(ctx context.Context, conn *sql.Conn) error {
	if cfg.Dialect != MySQL || cfg.schema() != "" {
		cfg.pin("")
		return nil
	}
	var database sql.NullString
	if err := conn.QueryRowContext(ctx, "SELECT DATABASE()").Scan(&database); err != nil {
		return fmt.Errorf("sqlstore: ask for the selected database: %w", err)
	}
	if database.String == "" || strings.ContainsAny(database.String, ".'`\"\\") {
		return fields.Error("sqlstore", "Table", cfg.Table, "needs a database and a dot before it, such as app.snow_worker: the connection has selected %q", database.String)
	}
	cfg.pin(database.String)
	return nil
}

// inspectDurability learns which settings the server has, and checks them.
func (st *statements) inspectDurability(ctx context.Context, conn *sql.Conn) error {
	for _, c := range durabilityChecks(st.cfg.Dialect, st.cfg.schema()) {
		if c.rare {
			var value any
			if err := conn.QueryRowContext(ctx, "SELECT "+c.query).Scan(&value); unknownVariable(err) {
				continue
			}
		}
		st.checks = append(st.checks, c)
	}
	if st.cfg.Dialect == MySQL { // in a transaction that may write: a proxy may send others to a replica
		err := inTransaction(ctx, conn, brackets[MySQL], func() error { return checkDurability(ctx, conn, st.checks) })
		if readOnly(err) {
			return nil // no claim will pass
		}
		return err
	}
	if err := checkDurability(ctx, conn, st.checks, st.simple...); err != nil || st.cfg.Dialect != SQLite {
		return err
	}
	inFile, err := inFile(ctx, conn, st.cfg.schema())
	switch {
	case err != nil:
		return fmt.Errorf("sqlstore: ask for the database's file: %w", err)
	case !inFile:
		return &driver.DurabilityError{Setting: "file", Value: `""`, Want: "the path of a file"}
	}
	return nil
}

// detect asks the database for its dialect. Only SQLite has no version(), and only SQLite has
// sqlite_version().
func detect(ctx context.Context, conn *sql.Conn) (Dialect, error) {
	var version string
	ask := func(query string) error { return conn.QueryRowContext(ctx, query, simple(conn)...).Scan(&version) }
	err := ask("SELECT version()")
	switch {
	case err == nil:
	case ctx.Err() != nil || retry.SQLState(err) != "" && !unknown(err):
		return 0, fmt.Errorf("sqlstore: ask the database for its version: %w", err)
	case ask("SELECT sqlite_version()") == nil:
		return SQLite, nil
	case ask("SELECT 1") == nil:
		return 0, unknownDialect("the database has neither version() nor sqlite_version()")
	default:
		return 0, fmt.Errorf("sqlstore: ask the database for its version: %w", err)
	}
	switch {
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
func isGalera(ctx context.Context, conn *sql.Conn, d Dialect) (on bool, err error) {
	if d != MySQL {
		return false, nil
	}
	err = conn.QueryRowContext(ctx, "SELECT @@wsrep_on = 1 AND VERSION() LIKE '%MariaDB%'").Scan(&on)
	if err != nil && !unknownVariable(err) { // other servers have no such variable
		return false, fmt.Errorf("sqlstore: ask whether the server is a node of Galera: %w", err)
	}
	return on, nil
}

// setting reads a setting by a query. It is not shown if the database says that it does not exist,
// or that the role may not see it.
func (s *Store) setting(ctx context.Context, query string, into any) (shown bool, err error) {
	if err := s.row(ctx, query, into); err == nil || !unknown(err) && !denied(err) {
		return err == nil, err
	}
	return false, nil
}

// row runs a query of one row.
func (s *Store) row(ctx context.Context, query string, into ...any) error {
	return s.onConnection(ctx, func(conn *sql.Conn) error {
		return conn.QueryRowContext(ctx, query, simple(conn)...).Scan(into...)
	})
}
