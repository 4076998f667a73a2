package database

import "testing"

// Settle runs a checkpoint, so that the next measurement does not pay for the last one. In SQLite
// it also switches automatic checkpoints off, and the log grows until the next call.
func (e *Engine) Settle(tb testing.TB) {
	tb.Helper()
	switch e.Name {
	case Postgres:
		e.Exec(tb, "CHECKPOINT")
	case SQLite:
		e.Exec(tb, "PRAGMA wal_checkpoint(TRUNCATE)", "PRAGMA wal_autocheckpoint(0)")
	}
}

// Sizes returns the bytes of a table with all its indexes, and of the index of its primary
// key. The second is 0 in InnoDB, where that index is the table, and for an integer key in
// SQLite, which has none.
func (e *Engine) Sizes(tb testing.TB, table string) (all, key int64) {
	tb.Helper()
	switch e.Name {
	case Postgres:
		return e.integer(tb, "SELECT pg_total_relation_size($1)", table), e.integer(tb, "SELECT pg_relation_size($1::regclass)", table+"_pkey")
	case MariaDB:
		e.Exec(tb, "ANALYZE TABLE "+table)
		return e.integer(tb, `SELECT sum(stat_value) * @@innodb_page_size FROM mysql.innodb_index_stats
			WHERE database_name = database() AND table_name = ? AND stat_name = 'size'`, table), 0
	default:
		const pages = `SELECT coalesce(sum(pgsize), 0) FROM dbstat WHERE name IN (SELECT name FROM sqlite_master WHERE tbl_name = ?`
		return e.integer(tb, pages+`)`, table), e.integer(tb, pages+` AND name LIKE 'sqlite_autoindex%')`, table)
	}
}

// Log returns how many bytes PostgreSQL has written to its log, and 0 for other engines.
func (e *Engine) Log(tb testing.TB) int64 {
	tb.Helper()
	if e.Name != Postgres {
		return 0
	}
	return e.integer(tb, "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint")
}

// Analyze returns the statement that updates the planner's statistics of a table.
func (e *Engine) Analyze(table string) string {
	if e.Name == MariaDB {
		return "ANALYZE TABLE " + table
	}
	return "ANALYZE " + table
}

// Has reports whether the server has a function without arguments.
func (e *Engine) Has(tb testing.TB, function string) bool {
	tb.Helper()
	_, err := e.DB.ExecContext(tb.Context(), "SELECT "+function+"()")
	return err == nil
}

func (e *Engine) integer(tb testing.TB, query string, args ...any) int64 {
	tb.Helper()
	var n int64
	if err := e.DB.QueryRowContext(tb.Context(), query, args...).Scan(&n); err != nil {
		tb.Fatalf("%s: %s: %v", e.Name, query, err)
	}
	return n
}

// Count returns the number of rows of a table.
func (e *Engine) Count(tb testing.TB, table string) int {
	tb.Helper()
	return int(e.integer(tb, "SELECT count(*) FROM "+table))
}
