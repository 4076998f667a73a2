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
	select {
	case s.inspecting <- struct{}{}:
	case <-ctx.Done():
		return nil, s.inspectionError(ctx.Err())
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
	}
	return s.onConnection(ctx, func(conn *sql.Conn) error {
		if now.st == nil {
			if now.st, err = s.inspectServer(ctx, conn); err != nil {
				return err
			}
		}
		err := session{now.st, conn}.prepareTables(ctx, wanted, &now.tables)
		known := now
		s.inspected.Store(&known)
		return err
	})
}

// inspectServer learns the dialect, the schema and which settings there are.
func (s *Store) inspectServer(ctx context.Context, conn *sql.Conn) (_ *statements, err error) {
	cfg, simple := s.cfg, simple(conn)
	if cfg.Dialect == Detect {
		if cfg.Dialect, err = detect(ctx, conn, simple); err != nil {
			return nil, err
		}
		s.cfg.Dialect = cfg.Dialect
	}
	if err := cfg.pinOn(ctx, conn); err != nil {
		return nil, err
	}
	st := cfg.statements()
	st.simple = simple
	if err := st.inspectSettings(ctx, conn); err != nil {
		return nil, err
	}
	return st, nil
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

// inspectSettings learns which settings decide whether a commit may be lost. Their values are asked
// for by each write.
func (st *statements) inspectSettings(ctx context.Context, conn *sql.Conn) error {
	galera, err := variable(ctx, conn, st.cfg.Dialect, "SELECT @@wsrep_on = 1 AND VERSION() LIKE '%MariaDB%'")
	if err != nil {
		return fmt.Errorf("sqlstore: ask whether the server is a node of Galera: %w", err)
	}
	st.galera = galera.Int64 == 1 // only MariaDB has the statement to wait for other nodes
	if st.cfg.AllowDataLoss {
		return nil
	}
	group, err := variable(ctx, conn, st.cfg.Dialect, "SELECT @@group_replication_group_name <> ''")
	if err != nil {
		return fmt.Errorf("sqlstore: ask whether the server is a member of a group: %w", err)
	}
	for _, c := range durabilityChecks(st.cfg.Dialect, st.cfg.schema()) {
		if c.setting == "wsrep_on" && !galera.Valid || c.setting == "group_replication" && group.Int64 != 1 {
			continue // the server has no such setting, or no group
		}
		st.checks = append(st.checks, c)
	}
	if st.cfg.Dialect != SQLite {
		return nil
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

// variable asks for a variable of MySQL. It is not valid in servers that do not have it, and in other
// databases.
func variable(ctx context.Context, conn *sql.Conn, d Dialect, query string) (value sql.NullInt64, err error) {
	if d != MySQL {
		return value, nil
	}
	if err = conn.QueryRowContext(ctx, query).Scan(&value); unknownVariable(err) {
		return sql.NullInt64{}, nil
	}
	return value, err
}

// detect asks the database for its dialect. Only SQLite has no version(), and only SQLite has
// sqlite_version().
func detect(ctx context.Context, conn *sql.Conn, simple []any) (Dialect, error) {
	var version string
	ask := func(query string) error { return conn.QueryRowContext(ctx, query, simple...).Scan(&version) }
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

// setting reads a setting by a query. It is not shown if the database says that it does not exist,
// or that the role may not see it.
func (x session) setting(ctx context.Context, query string, into any) (shown bool, err error) {
	if err := x.row(ctx, query, into); err == nil || !unknown(err) && !denied(err) {
		return err == nil, err
	}
	return false, nil
}

// row runs a query of one row.
func (x session) row(ctx context.Context, query string, into ...any) error {
	return x.conn.QueryRowContext(ctx, query, x.simple...).Scan(into...)
}
