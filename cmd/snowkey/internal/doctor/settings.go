package doctor

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/dsn"
	"github.com/seed-299c1d6b/snowkey/worker"
)

// setting decides whether a committed write can be lost.
type setting struct {
	name, query string
	bad         []string
	status      Status // of a bad value
	advice      string
}

// notWaiting is a synchronous_commit that ignores a synchronous standby.
const notWaiting = "local, so commits do not wait for a standby"

var settings = map[dsn.Kind][]setting{ //nolint:gochecknoglobals // constant
	dsn.Postgres: {
		{"fsync", "SELECT current_setting('fsync')", []string{"off"}, Fail, "set fsync = on: a crash of the machine may lose committed writes"},
		{"synchronous_commit", "SELECT CASE WHEN current_setting('synchronous_commit') = 'local' AND current_setting('synchronous_standby_names') <> '' THEN '" + notWaiting + "' ELSE current_setting('synchronous_commit') END", []string{"off", notWaiting}, Fail, "set synchronous_commit = on, at least for this user"},
		{"full_page_writes", "SELECT current_setting('full_page_writes')", []string{"off"}, Fail, "set full_page_writes = on, unless the file system never tears a page"},
		{"pg_is_in_recovery", "SELECT CASE WHEN pg_is_in_recovery() THEN 'a standby' ELSE 'primary' END", []string{"a standby"}, Fail, "connect to the primary: a standby accepts no writes"},
	},
	dsn.MySQL: {
		{"innodb_flush_log_at_trx_commit", "SELECT @@innodb_flush_log_at_trx_commit", []string{"0", "2", "3"}, Fail, "set innodb_flush_log_at_trx_commit = 1: a crash of the machine may lose committed writes"},
		{"sync_binlog", "SELECT CASE WHEN @@log_bin = 1 THEN @@sync_binlog ELSE 'no binary log' END", nil, Fail, "set sync_binlog = 1: after a crash the log and its replicas may lack committed writes"},
		{"innodb_flush_method", "SELECT @@innodb_flush_method", []string{"nosync", "littlesync"}, Fail, "set innodb_flush_method = O_DIRECT or fsync"},
		{"innodb_doublewrite", "SELECT CAST(@@innodb_doublewrite AS CHAR)", []string{"0", "OFF"}, Warn, "set innodb_doublewrite = ON, unless the file system never tears a page"},
		{"read_only", "SELECT CAST(@@read_only AS CHAR)", []string{"1", "ON"}, Fail, "connect to the primary: this server accepts no writes"},
	},
	dsn.SQLite: {
		{"journal_mode", "PRAGMA journal_mode", []string{"memory", "off"}, Fail, "set PRAGMA journal_mode = wal or delete"},
		{"synchronous", "PRAGMA synchronous", []string{"0", "1"}, Fail, "leave PRAGMA synchronous at FULL in every connection that leases worker IDs"},
	},
}

// settings checks each setting, and then asks the lease store.
func (e *checkup) settings(ctx context.Context) {
	if e.Target.Kind == dsn.SQLite {
		folder := filepath.Dir(e.Target.Path())
		if whole, err := filepath.Abs(folder); err == nil {
			folder = whole
		}
		e.fileSystem("file system", folder)
	}
	for _, s := range settings[e.Target.Kind] {
		var value string
		if err := e.Target.DB.QueryRowContext(ctx, s.query).Scan(&value); err != nil {
			e.skip(s.name, "not visible: %v", err)
			continue
		}
		bad := slices.ContainsFunc(s.bad, func(b string) bool { return strings.EqualFold(b, value) })
		if s.name == "sync_binlog" {
			bad = value != "1" && value != "no binary log"
		}
		if s.name == "synchronous" {
			value = map[string]string{"0": "off", "1": "normal", "2": "full", "3": "extra"}[value]
		}
		if bad {
			e.lossy = e.lossy || s.status == Fail
			e.report(s.status, s.name, value, s.advice)
		} else {
			e.ok(s.name, "%s", value)
		}
	}
	if e.Target.Kind == dsn.Postgres {
		e.standbys(ctx)
	}
	e.verdict(ctx)
}

// verdict reports what the store itself refuses.
func (e *checkup) verdict(ctx context.Context) {
	store, err := e.Target.Store(dsn.StoreOptions{NoCreate: true})
	if err == nil {
		_, err = store.List(ctx, e.Namespace)
	}
	var lossy *worker.DurabilityError
	switch {
	case errors.As(err, &lossy) && e.lossy:
		e.report(Fail, "leases", "are refused: "+lossy.Setting, "correct it as described above")
	case errors.As(err, &lossy):
		e.report(Fail, "leases", fmt.Sprintf("are refused: %s is %s", lossy.Setting, lossy.Value), "must be "+lossy.Want)
	}
}

// missing reports whether an error means that a table does not exist.
func missing(err error) bool {
	var pg *pgconn.PgError
	var my *mysql.MySQLError
	switch {
	case errors.As(err, &pg):
		return pg.Code == "42P01"
	case errors.As(err, &my):
		return my.Number == 1146
	}
	return strings.Contains(err.Error(), "no such table") // SQLite has no code for it
}

// hasTable reports whether the table of the leases exists.
func (e *checkup) hasTable(ctx context.Context) (bool, error) {
	rows, err := e.Target.DB.QueryContext(ctx, "SELECT 1 FROM snow_worker WHERE 1 = 0")
	if err != nil {
		if missing(err) {
			return false, nil
		}
		return false, err
	}
	defer rows.Close()
	return true, rows.Err()
}
