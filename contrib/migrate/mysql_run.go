package migrate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-299c1d6b/snowkey/internal/fields"
)

// myEngine migrates tables of MySQL and MariaDB.
type myEngine struct {
	cfg Config
	db  *sql.DB
}

func (e *myEngine) plan(ctx context.Context, q querier) (Plan, error) {
	switch e.cfg.Kind {
	case UUID:
		return e.planUUID(ctx, q)
	case Default:
		return e.planDefault(ctx, q)
	}
	return e.planBigint(ctx, q)
}

// look returns the catalog, unless the server replicates statements.
func (e *myEngine) look(ctx context.Context, q querier) (mysql, error) {
	conn, ok := q.(interface {
		querier
		rowsQuerier
	})
	if !ok {
		return mysql{}, errors.ErrUnsupported
	}
	var version, format, bin string
	err := conn.QueryRowContext(ctx, "SELECT VERSION(), @@binlog_format, @@log_bin").Scan(&version, &format, &bin)
	switch {
	case err != nil:
		return mysql{}, fmt.Errorf("migrate: look at the server: %w", err)
	case format == "STATEMENT" && bin == "1":
		return mysql{}, refuse(name(e.cfg.Table), "is replicated by statements (binlog_format = STATEMENT), in which triggers and batches are not safe")
	}
	return mysql{conn, strings.Contains(version, "MariaDB")}, nil
}

type rowsQuerier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func fieldColumn(cfg Config, t *myTable) error {
	return fields.Error("migrate", "Column", cfg.Column, "%s has no such column", t)
}

// lock also sets up the session. Batches read rows as they are now, and lock no gaps.
func (e *myEngine) lock(ctx context.Context, conn *sql.Conn) (func(), error) {
	var got sql.NullInt64
	err := conn.QueryRowContext(ctx, "SELECT GET_LOCK(CONCAT('snow_migrate.', LEFT(SHA2(DATABASE(), 256), 40)), 0)").Scan(&got)
	switch {
	case err != nil:
		return nil, fmt.Errorf("migrate: lock: %w", err)
	case got.Int64 != 1:
		return nil, ErrRunning
	}
	release := func() {
		ctx := context.WithoutCancel(ctx) // or they end with the session
		// In MySQL, DEFAULT is 0 for foreign_key_checks.
		_, _ = conn.ExecContext(ctx, "SET SESSION foreign_key_checks = @@GLOBAL.foreign_key_checks, sql_mode = DEFAULT, lock_wait_timeout = DEFAULT, autocommit = DEFAULT")
		_, _ = conn.ExecContext(ctx, "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")
		_, _ = conn.ExecContext(ctx, "DO RELEASE_LOCK(CONCAT('snow_migrate.', LEFT(SHA2(DATABASE(), 256), 40)))")
	}
	mode := "NO_AUTO_VALUE_ON_ZERO"
	if e.cfg.Kind != Bigint { // which copies what would be refused now
		mode += ",STRICT_TRANS_TABLES" // or a column cannot be made NOT NULL in place
	}
	settings := []string{
		"SET SESSION autocommit = 1", "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", "SET SESSION sql_mode = " + text(mode),
		fmt.Sprintf("SET SESSION lock_wait_timeout = %d", e.cfg.lockSeconds()),
	}
	var expiry string
	if conn.QueryRowContext(ctx, "SELECT @@information_schema_stats_expiry").Scan(&expiry) == nil { // MySQL 8 shows an old AUTO_INCREMENT otherwise
		settings = append(settings, "SET SESSION information_schema_stats_expiry = 0")
	}
	for _, text := range settings {
		if _, err := conn.ExecContext(ctx, text); err != nil {
			release()
			return nil, fmt.Errorf("migrate: %s: %w", text, err)
		}
	}
	return release, nil
}

func (e *myEngine) attempt(ctx context.Context, conn *sql.Conn, s Step) (again bool, err error) {
	// With 0, which an attempt that failed may have left, a RENAME would not take references along.
	for _, text := range append([]string{"SET SESSION foreign_key_checks = 1"}, s.Statements...) {
		if _, err := conn.ExecContext(ctx, text); err != nil {
			return busy(err) && ctx.Err() == nil, fmt.Errorf("%s: %w", text, err)
		}
	}
	return false, nil
}

// blockers names the oldest transactions, of whatever table.
func (e *myEngine) blockers(ctx context.Context, conn *sql.Conn, _ Step) string {
	var text sql.NullString
	// Without the right PROCESS there is only the error itself.
	_ = conn.QueryRowContext(ctx, `SELECT GROUP_CONCAT('process ', trx_mysql_thread_id, ', transaction since ', trx_started, ': ', COALESCE(LEFT(trx_query, 80), 'idle') SEPARATOR '; ')
		FROM (SELECT * FROM information_schema.INNODB_TRX WHERE trx_mysql_thread_id <> CONNECTION_ID() AND trx_mysql_thread_id > 0 ORDER BY trx_started LIMIT 3) a`).Scan(&text)
	if text.String == "" {
		return ""
	}
	return " (the oldest transactions now: " + text.String + ")"
}

// busy reports a lock that could not be had in time, a deadlock, or a row that MariaDB 11.6.2 and
// later finds changed since the statement's first look.
func busy(err error) bool {
	return slices.ContainsFunc([]string{"Error 1205", "Error 1213", "Error 1020"}, func(number string) bool { return strings.Contains(err.Error(), number) })
}

// fill copies rows, range by range of the first column of the key.
func (e *myEngine) fill(ctx context.Context, conn *sql.Conn, s Step) (int64, error) {
	if e.cfg.Kind == UUID {
		return e.cfg.backfill(ctx, e.db, conn, s)
	}
	j, err := e.inspect(ctx, conn)
	if err != nil {
		return 0, err
	}
	var t *myTable
	for _, o := range j.tables {
		if o.String() == s.Table {
			t = o
		}
	}
	first, quoted := tick(t.primary[0]), t.sql()
	var total, rows int64
	if err := conn.QueryRowContext(ctx, "SELECT COALESCE(MAX(TABLE_ROWS), 0) FROM information_schema.TABLES WHERE "+inTable("TABLE", t.schema, t.name)).Scan(&total); err != nil {
		return 0, err
	}
	wait := e.cfg.stuck()
	for {
		before := rows
		var from, read any
		var passed int64
		err := conn.QueryRowContext(ctx, "SELECT MIN("+first+") FROM "+quoted).Scan(&from)
		for err == nil && from != nil {
			var to any
			err = conn.QueryRowContext(ctx, fmt.Sprintf("SELECT %s FROM %s WHERE %s >= ? ORDER BY %s LIMIT 1 OFFSET %d", first, quoted, first, first, e.cfg.BatchSize), plain(from)).Scan(&to)
			if errors.Is(err, sql.ErrNoRows) {
				err = conn.QueryRowContext(ctx, "SELECT MAX("+first+") FROM "+quoted).Scan(&to)
				read = to
			}
			var n int64
			if err == nil && to != nil {
				n, err = e.batch(ctx, conn, s.Statements[0], plain(from), plain(to))
			}
			rows += n
			passed += int64(e.cfg.BatchSize)
			e.cfg.Progress(s, min(passed, total), total)
			from = to
			if read != nil {
				break
			}
		}
		var done bool
		if err == nil {
			err = conn.QueryRowContext(ctx, s.Check).Scan(&done)
		}
		if err != nil || done {
			return rows, err
		}
		if err := wait(ctx, rows > before); err != nil {
			return rows, err
		}
	}
}

// plain makes a key an argument: the driver returns texts as bytes.
func plain(key any) any {
	if b, ok := key.([]byte); ok {
		return string(b)
	}
	return key
}

func (e *myEngine) batch(ctx context.Context, conn *sql.Conn, text string, from, to any) (int64, error) {
	for attempt := 1; ; attempt++ {
		result, err := conn.ExecContext(ctx, text, from, to)
		if err == nil {
			return result.RowsAffected()
		}
		if !busy(err) || attempt == limits().Attempts {
			return 0, err
		}
		if waited := limits().Wait(ctx, attempt); waited != nil {
			return 0, errors.Join(err, waited)
		}
	}
}
