package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// suffixes of the tables, in the order of DDL.
var suffixes = [tables]string{"_space", "", "_counter"}

// prepareEach creates the tables with these indexes in DDL if they are missing, and checks
// that a crash keeps them. It sets there for each one that passes.
func (s *Store) prepareEach(ctx context.Context, cfg Config, numbers []int, there *[tables]bool) error {
	numbers = slices.DeleteFunc(slices.Clone(numbers), func(number int) bool { return there[number] })
	if len(numbers) == 0 {
		return nil // another call has looked meanwhile
	}
	seen, err := s.seen(ctx, cfg, numbers)
	switch {
	case denied(err) && cfg.Dialect == Postgres:
		return fmt.Errorf("%w: the role lacks USAGE on the schema %q: GRANT it", err, cfg.schema())
	case denied(err): // MySQL returns this also for a table that does not exist
		return s.forbidden(ctx, cfg, "look at", numbers, err)
	case err != nil:
		return err
	}
	var made []int
	for i, number := range numbers {
		if seen[i] {
			there[number] = true
		} else {
			made = append(made, number)
		}
	}
	for i, number := range made {
		if err := s.create(ctx, cfg, number, made[i:]); err != nil {
			return err
		}
	}
	if len(made) == 0 {
		return nil
	}
	// Another process may have created them first, with other settings.
	if seen, err = s.seen(ctx, cfg, made); err != nil {
		return err
	}
	for i, number := range made {
		if !seen[i] {
			return fmt.Errorf("sqlstore: the table %s was created and is not there", cfg.table(suffixes[number]))
		}
		there[number] = true
	}
	return nil
}

// create makes the table with this index in DDL. missing are all that are still to be made.
func (s *Store) create(ctx context.Context, cfg Config, number int, missing []int) error {
	ddl, err := cfg.DDL()
	if err != nil {
		return err
	}
	table := cfg.table(suffixes[number])
	if cfg.NoCreate {
		if err := s.hidden(ctx, cfg, suffixes[number]); err != nil {
			return err
		}
		return s.forbidden(ctx, cfg, "find", missing, s.probe(ctx, cfg.Dialect, table))
	}
	_, err = s.db.ExecContext(ctx, ddl[number])
	if err == nil || s.probe(ctx, cfg.Dialect, table) == nil { // another process was first
		return nil
	}
	if err := s.hidden(ctx, cfg, suffixes[number]); err != nil {
		return err
	}
	if denied(err) {
		return s.forbidden(ctx, cfg, "create", missing, err)
	}
	if noSchema(err) {
		return fmt.Errorf("sqlstore: create the table %s: the role may use no schema of its search_path: GRANT USAGE on one, or give Table one, as in app.snow_worker: %w", table, err)
	}
	return fmt.Errorf("sqlstore: create the table %s by %s: %w", table, ddl[number], err)
}

// probe selects from a table, without rows.
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

// seen reports which of these tables exist. It refuses temporary tables and, unless that is
// allowed, tables that a crash of the server may empty whatever its settings are.
func (s *Store) seen(ctx context.Context, cfg Config, numbers []int) (seen []bool, err error) {
	if cfg.Dialect == Postgres {
		return s.logged(ctx, cfg, numbers)
	}
	seen = make([]bool, len(numbers))
	for i, number := range numbers {
		if cfg.Dialect == MySQL {
			seen[i], err = s.shown(ctx, cfg, suffixes[number])
		} else {
			seen[i], err = s.inMain(ctx, cfg, suffixes[number])
		}
		if err != nil {
			return nil, err
		}
	}
	return seen, nil
}

// logged looks at tables of PostgreSQL, and at all their partitions, by one query.
func (s *Store) logged(ctx context.Context, cfg Config, numbers []int) ([]bool, error) {
	wanted := make([]string, len(numbers))
	for i, number := range numbers {
		wanted[i] = "(" + strconv.Itoa(i) + ", CAST(to_regclass('" + cfg.table(suffixes[number]) + "') AS oid))"
	}
	fail := func(err error) ([]bool, error) {
		return nil, fmt.Errorf("sqlstore: ask whether the tables %s are logged: %w", cfg.table(""), err)
	}
	rows, err := s.db.QueryContext(ctx, "WITH RECURSIVE tree (n, oid) AS (VALUES "+strings.Join(wanted, ", ")+" UNION "+
		"SELECT t.n, i.inhrelid FROM pg_catalog.pg_inherits i JOIN tree t ON i.inhparent = t.oid) "+
		"SELECT DISTINCT ON (t.n) t.n, CAST(CAST(c.oid AS regclass) AS TEXT), CAST(c.relpersistence AS TEXT) FROM pg_catalog.pg_class c JOIN tree t ON c.oid = t.oid "+
		"ORDER BY t.n, CASE c.relpersistence WHEN 't' THEN 0 WHEN 'p' THEN 2 ELSE 1 END")
	if err != nil {
		return fail(err)
	}
	defer rows.Close()
	seen := make([]bool, len(numbers))
	for rows.Next() {
		var i int
		var name, persistence string
		if err := rows.Scan(&i, &name, &persistence); err != nil {
			return fail(err)
		}
		switch {
		case persistence == "t":
			return nil, temporary(name)
		case persistence != "p" && !cfg.AllowDataLoss:
			return nil, &driver.DurabilityError{Setting: "relpersistence of the table " + name, Value: persistence, Want: "p, a table that is logged"}
		}
		seen[i] = true
	}
	if err := rows.Err(); err != nil {
		return fail(err)
	}
	return seen, nil
}

// temporary is the error for a temporary table, which hides the shared one. It would cause
// duplicates without any crash.
func temporary(table string) error {
	return &core.ConfigError{Package: "sqlstore", Fields: []core.FieldError{{Field: "Table", Value: table, Reason: "is a temporary table in this session, which others do not see: drop it, or give the store a pool of its own"}}}
}

// inMain looks at a table of SQLite.
func (s *Store) inMain(ctx context.Context, cfg Config, suffix string) (seen bool, err error) {
	if s.probe(ctx, cfg.Dialect, cfg.table(suffix)) != nil {
		return false, ctx.Err()
	}
	if cfg.schema() != "" {
		return true, nil
	}
	var others int
	err = s.db.QueryRowContext(ctx, "SELECT COUNT(*) FROM sqlite_temp_master WHERE lower(name) = lower('"+cfg.name(suffix)+"')").Scan(&others)
	switch {
	case err != nil:
		return false, fmt.Errorf("sqlstore: ask whether the table %s is temporary: %w", cfg.table(suffix), err)
	case others > 0:
		return false, temporary(cfg.table(suffix))
	}
	return true, nil
}

var (
	// MySQL's error for a table that is not there.
	noTable = regexp.MustCompile(`\bError 1146\b|\b42S02\b`)
	// Where SHOW CREATE TABLE has the engine. A line of the table begins with a blank.
	engineOf = regexp.MustCompile(`(?m)^\) ENGINE=(\w+)`)
)

// shown looks at a table of MySQL, by a statement that neither begins a transaction nor
// keeps a lock. Only this statement shows temporary tables.
func (s *Store) shown(ctx context.Context, cfg Config, suffix string) (seen bool, err error) {
	table := cfg.table(suffix)
	text, err := s.showCreate(ctx, table)
	switch {
	case err != nil && noTable.MatchString(err.Error()):
		return false, nil
	case denied(err):
		return false, err
	case err != nil:
		return false, fmt.Errorf("sqlstore: look at the table %s: %w", table, err)
	case strings.HasPrefix(text, "CREATE TEMPORARY"):
		return false, temporary(table)
	case cfg.AllowDataLoss:
		return true, nil
	}
	var engine string
	if found := engineOf.FindStringSubmatch(text); found != nil {
		engine = found[1]
	} else if engine, err = s.listedEngine(ctx, cfg, suffix); err != nil { // sql_mode hides it, or it is a view
		return false, fmt.Errorf("sqlstore: ask for the engine of the table %s: %w", table, err)
	}
	if !strings.EqualFold(engine, "InnoDB") {
		return false, &driver.DurabilityError{Setting: "engine of the table " + table, Value: fmt.Sprintf("%q", engine), Want: "InnoDB"}
	}
	return true, nil
}

// showCreate gives the statement that would create a table.
func (s *Store) showCreate(ctx context.Context, table string) (text string, err error) {
	rows, err := s.db.QueryContext(ctx, "SHOW CREATE TABLE "+table)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return "", err
	}
	texts := make([]sql.NullString, max(len(columns), 2)) // a view has more
	into := make([]any, len(columns))
	for i := range columns {
		into[i] = &texts[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return "", err
		}
	}
	return texts[1].String, rows.Err()
}

// listedEngine is the engine of a table, as MySQL lists it. Names that differ in case may
// be two tables: then it is the one that is not InnoDB, if there is one.
func (s *Store) listedEngine(ctx context.Context, cfg Config, suffix string) (engine string, err error) {
	err = s.alone(ctx, cfg.Dialect, func(q querier) error {
		rows, err := q.QueryContext(ctx, "SELECT COALESCE(engine, '') FROM information_schema.tables WHERE table_schema = "+cfg.quotedSchema()+" AND table_name = '"+cfg.name(suffix)+"'")
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() && (engine == "" || engine == "InnoDB") {
			if err := rows.Scan(&engine); err != nil {
				return err
			}
		}
		return rows.Err()
	})
	return engine, err
}
