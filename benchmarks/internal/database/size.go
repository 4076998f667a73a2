package database

import (
	"os"
	"testing"
)

// Settle runs a checkpoint, so that the log of the next measurement holds nothing of the
// last one.
func (e *Engine) Settle(tb testing.TB) {
	tb.Helper()
	switch e.Name {
	case Postgres:
		e.Exec(tb, "CHECKPOINT")
	case SQLite:
		var busy, frames, done int64
		if err := e.DB.QueryRowContext(tb.Context(), "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &done); err != nil || busy != 0 {
			tb.Fatalf("checkpoint of SQLite: busy %d, %v", busy, err)
		}
		e.Exec(tb, "PRAGMA wal_autocheckpoint(0)")
	}
}

// Log returns the bytes of log written so far, of which only differences mean something:
// PostgreSQL's write-ahead log, InnoDB's redo log, and SQLite's since Settle.
func (e *Engine) Log(tb testing.TB) int64 {
	tb.Helper()
	if e.Name == SQLite {
		info, err := os.Stat(e.file + "-wal")
		if err != nil {
			tb.Fatal(err)
		}
		return info.Size()
	}
	return e.integer(tb, map[string]string{
		Postgres: "SELECT (pg_current_wal_lsn() - '0/0')::bigint",
		MariaDB:  "SELECT variable_value FROM information_schema.global_status WHERE variable_name = 'Innodb_os_log_written'",
	}[e.Name])
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
