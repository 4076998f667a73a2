package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// A sound is a server of a dialect with the tables, and settings that lose nothing.
type sound struct {
	version string
	plugins [][]any // variables of MySQL
	tables  bool
	layout  any // of the namespace; nil: it is new
	records [][]any
}

func (s *sound) answer(query string) answer {
	switch {
	case query == "SELECT version()" && s.version == "":
		return answer{err: errors.New("SQL logic error: no such function: version (1)")}
	case query == "SELECT version()":
		return row(s.version)
	case contains(query, "SHOW VARIABLES"):
		return answer{rows: append([][]any{{"version", s.version}}, s.plugins...)}
	case query == "SELECT DATABASE()":
		return row("shop")
	case contains(query, "WITH RECURSIVE tree") && s.tables:
		var found [][]any
		for n, suffix := range []string{"_space", "", "_counter"} {
			if contains(query, fmt.Sprintf("(%d, ", n)) {
				found = append(found, []any{int64(n), "public.snow_worker" + suffix, "p"})
			}
		}
		return answer{rows: found}
	case contains(query, "SHOW CREATE TABLE") && s.tables:
		return row("", "CREATE TABLE x (\n) ENGINE=InnoDB")
	case contains(query, "SHOW CREATE TABLE"):
		return answer{err: &mysql.MySQLError{Number: 1146, Message: "no such table"}}
	case contains(query, "sqlite_master") && s.tables:
		return answer{rows: [][]any{{"snow_worker_space"}, {"snow_worker"}, {"snow_worker_counter"}}}
	case contains(query, "CREATE TABLE"):
		s.tables = true
	case contains(query, "database_list"):
		return row(int64(0), "main", "/shop.sqlite")
	case contains(query, "journal_mode"):
		return row("wal")
	case contains(query, "synchronous") && !contains(query, "SET", "set_config"):
		return row(int64(1)) // NORMAL
	case contains(query, "UNION ALL SELECT NULL, worker"):
		return answer{rows: append([][]any{{s.layout, int64(-1), int64(0), "", "", int64(1_000_000), int64(1)}}, s.records...)}
	case contains(query, "@@innodb_flush_log_at_trx_commit"):
		var values []any
		for range strings.Count(query, "(SELECT @@") + strings.Count(query, "(SELECT CASE") {
			values = append(values, "1")
		}
		return row(values...)
	case strings.HasPrefix(query, "SELECT current_setting('fsync')"):
		return row("on")
	case contains(query, "SET STATEMENT"):
		return row(int64(1))
	case contains(query, "SELECT value"):
		return row(int64(7))
	case contains(query, "RETURNING value"):
		return row(int64(20))
	case contains(query, "LAST_INSERT_ID"):
		return answer{changed: 20}
	}
	return answer{changed: 1}
}

var (
	galera = [][]any{{"wsrep_on", "ON"}, {"wsrep_provider", "x"}}
	group  = [][]any{{"group_replication_group_name", "a"}}
)

// If a database cannot be identified, Dialect must be set. A lost connection says nothing about it.
func TestDetect(t *testing.T) {
	gone := errors.New("connection lost")
	for version, want := range map[string]Dialect{
		"PostgreSQL 17.1 on x86_64": Postgres, "8.0.11-TiDB-v7.5.0": MySQL, "11.8.2-MariaDB": MySQL, "": SQLite, "CockroachDB CCL v24.1": "unknown", "gone": "gone",
	} {
		f := &fake{answer: (&sound{version: version, tables: true}).answer}
		if version == "gone" {
			f.answer = func(string) answer { return answer{err: gone} }
		}
		s := mustNew(New(f.open(t), Config{}))
		_, err := s.List(t.Context(), "x")
		var config *core.ConfigError
		switch {
		case want == "unknown" && (!errors.As(err, &config) || config.Fields[0].Field != "Dialect"),
			want == "gone" && (!errors.Is(err, gone) || errors.As(err, &config)):
			t.Errorf("%s: %v", version, err)
		case want != "unknown" && want != "gone" && (err != nil || s.inspected.Load().st.cfg.Dialect != want):
			t.Errorf("%s: %v", version, err)
		}
	}
}

// A setting that cannot be read is a refusal, whatever the reason is.
func TestSettingThatCannotBeRead(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		server sound
		in     string // the query that fails
		err    error
	}{
		{sound{version: "PostgreSQL"}, "SELECT current_setting('fsync')", state("42P05")},
		{sound{version: "PostgreSQL"}, "SELECT current_setting('fsync')", state("42704")},
		{sound{version: "8"}, "SHOW VARIABLES", broken},
		{sound{version: "8"}, "DATABASE()", broken},
		{sound{version: "8"}, "flush_log", &mysql.MySQLError{Number: 1193, Message: "Unknown system variable"}},
		{sound{}, "database_list", broken},
		{sound{}, "journal_mode", broken},
	} {
		t.Run(fmt.Sprint(c.server.version, " ", c.in, " ", c.err), func(t *testing.T) {
			c.server.tables = true
			f := &fake{answer: func(query string) answer {
				if strings.Contains(query, c.in) {
					return answer{err: c.err}
				}
				return c.server.answer(query)
			}}
			s := mustNew(New(f.open(t), Config{}))
			_, err := s.Warnings(t.Context())
			if c.in == "journal_mode" || c.in == "database_list" || !errors.Is(err, c.err) {
				_, err = s.Reserve(t.Context(), "x", 1)
			}
			if !errors.Is(err, c.err) {
				t.Errorf("%v, want %v", err, c.err)
			}
		})
	}
}

// A driver may skip a statement when its context ends, and report success. Nothing that is learned
// then counts.
func TestSkippedInspection(t *testing.T) {
	for _, server := range []sound{{version: "PostgreSQL"}, {version: "11.8.2-MariaDB", plugins: galera}, {}} {
		server.tables = true
		count := &fake{answer: server.answer}
		if _, err := mustNew(New(count.open(t), Config{})).List(t.Context(), "x"); err != nil {
			t.Fatal(err)
		}
		for skipped := range len(count.taken()) {
			t.Run(fmt.Sprint(server.version, skipped), func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				n := 0
				f := &fake{answer: func(query string) answer {
					if n++; n > skipped {
						cancel()
						return answer{}
					}
					return server.answer(query)
				}}
				s := mustNew(New(f.open(t), Config{}))
				conn, err := s.db.Conn(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
				err = s.inspect(ctx, conn, leaseTables)
				if i := s.inspected.Load(); err == nil && !i.has(leaseTables...) || i != nil && (len(i.st.checks) == 0 || i.st.galera != (server.plugins != nil)) {
					t.Errorf("%v, %+v", err, i)
				}
				if err == nil {
					_, err = session{s.inspected.Load().st, conn}.look(ctx, "x")
				}
				if err == nil && ctx.Err() != nil {
					t.Error("a namespace was read")
				}
			})
		}
	}
}

// Only settings that the server has are asked for.
func TestDurabilityChecks(t *testing.T) {
	for _, c := range []struct {
		plugins [][]any
		lossy   bool
		asks    []string
	}{
		{nil, false, []string{"innodb_flush_log_at_trx_commit", "sync_binlog", "sql_log_bin"}},
		{galera, false, []string{"innodb_flush_log_at_trx_commit", "sync_binlog", "sql_log_bin", "wsrep_on"}},
		{group, false, []string{"innodb_flush_log_at_trx_commit", "sync_binlog", "sql_log_bin", "group_replication"}},
		{[][]any{{"group_replication_group_name", ""}}, false, []string{"innodb_flush_log_at_trx_commit", "sync_binlog", "sql_log_bin"}},
		{galera, true, nil},
	} {
		s := mustNew(New((&fake{answer: (&sound{version: "10.6-MariaDB", plugins: c.plugins, tables: true}).answer}).open(t), Config{AllowDataLoss: c.lossy}))
		if _, err := s.List(t.Context(), "x"); err != nil {
			t.Fatal(err)
		}
		st := s.inspected.Load().st
		var asks []string
		for _, check := range st.checks {
			asks = append(asks, check.setting)
		}
		if !slices.Equal(asks, c.asks) || st.galera != (len(c.plugins) == 2) {
			t.Errorf("%v: %q, galera %v", c.plugins, asks, st.galera)
		}
	}
}

// In Vitess, the settings must be those of the server that has the tables.
func TestVitessKeyspace(t *testing.T) {
	comment := [][]any{{"version_comment", "Version: 24.0.4 (Git revision 1 branch 'x') built on y by z using go1.26.8 linux/amd64"}}
	for _, c := range []struct {
		version         string
		plugins         [][]any
		table, selected string
		vitess, ok      bool
	}{
		{"8.4.6-Vitess", nil, "snow_worker", "main", true, true},
		{"8.4.6", comment, "main.snow_worker", "main", true, true},
		{"8.4.6", comment, "main.snow_worker", "main@primary", true, true},
		{"8.4.6-Vitess", nil, "snow_worker", "main@primary", true, true},
		{"8.4.6-Vitess", nil, "main.snow_worker", "shop", true, false},
		{"8.4.6", comment, "main.snow_worker", "", true, false},
		{"8.4.6", nil, "main.snow_worker", "shop", false, true},
		{"9.7.4", [][]any{{"version_comment", "MySQL Community Server - GPL"}}, "main.snow_worker", "shop", false, true},
	} {
		t.Run(fmt.Sprint(c.version, c.table, c.selected), func(t *testing.T) {
			server := &sound{version: c.version, plugins: c.plugins, tables: true}
			f := &fake{answer: func(query string) answer {
				if query == "SELECT DATABASE()" {
					return row(c.selected)
				}
				return server.answer(query)
			}}
			s := mustNew(New(f.open(t), Config{Table: c.table}))
			_, err := s.Reserve(t.Context(), "x", 1)
			var config *core.ConfigError
			if (err == nil) != c.ok || !c.ok && (!errors.As(err, &config) || config.Fields[0].Field != "Table") {
				t.Fatal(err)
			}
			if c.ok && s.inspected.Load().st.vitess != c.vitess {
				t.Errorf("vitess is %t", !c.vitess)
			}
		})
	}
}

// A sharded keyspace keeps only the tables that its VSchema names. None is created in it.
func TestVitessSharded(t *testing.T) {
	server := &sound{version: "8.4.6-Vitess"}
	f := &fake{answer: func(query string) answer {
		if contains(query, "SHOW CREATE TABLE") {
			return answer{err: &mysql.MySQLError{Number: 1105, Message: "table snow_worker_counter not found"}}
		}
		return server.answer(query)
	}}
	s := mustNew(New(f.open(t), Config{}))
	_, err := s.Reserve(t.Context(), "x", 1)
	var config *core.ConfigError
	if !errors.As(err, &config) || !strings.Contains(err.Error(), "unsharded") || server.tables {
		t.Errorf("%v, created: %t", err, server.tables)
	}
}

// Each bad value is refused, by its name.
func TestBadSettings(t *testing.T) {
	for _, d := range []Dialect{Postgres, MySQL, SQLite} {
		for i, c := range durabilityChecks(d, "main", variables{"wsrep_on": "ON", "group_replication_group_name": "a"}) {
			for _, bad := range c.bad {
				f := &fake{answer: func(query string) answer {
					values := make([]any, len(durabilityChecks(d, "main", variables{"wsrep_on": "ON", "group_replication_group_name": "a"})))
					for n := range values {
						values[n] = "fine"
					}
					values[i] = bad
					return row(values...)
				}}
				conn, err := f.open(t).Conn(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				err = checkDurability(t.Context(), conn, durabilityChecks(d, "main", variables{"wsrep_on": "ON", "group_replication_group_name": "a"}))
				var lossy *driver.DurabilityError
				if !errors.As(err, &lossy) || lossy.Setting != c.setting || lossy.Value != bad {
					t.Errorf("%s %s: %v", c.setting, bad, err)
				}
				_ = conn.Close()
			}
		}
	}
}

// Nor does an answer count that comes when the context is done: the driver may have cancelled the
// write, or skipped the query, or the rest of it. Above all, it does not say that a worker ID is
// not held.
func TestSkippedAnswers(t *testing.T) {
	for _, c := range []struct {
		version, at string
		answer      answer
	}{
		{"PostgreSQL", "UPDATE", answer{changed: 1}}, {"8.4.1", "UPDATE", answer{changed: 1}}, {"", "UPDATE", answer{changed: 1}},
		{"PostgreSQL", "UPDATE", answer{}}, {"8.4.1", "SELECT until_ts", answer{}}, {"", "COMMIT", answer{}},
		{"PostgreSQL", "UNION ALL", row("l", int64(-1), int64(0), "", "", int64(1_000_000), int64(1))},
	} {
		t.Run(c.version+" "+c.at, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			server := sound{version: c.version, tables: true, layout: "l"}
			f := &fake{answer: func(query string) answer {
				switch {
				case contains(query, c.at):
					cancel()
					return c.answer
				case contains(query, "UPDATE"):
					return answer{changed: map[bool]int64{true: 0, false: 1}[c.version == "8.4.1"]}
				}
				return server.answer(query)
			}}
			s := mustNew(New(f.open(t), Config{}))
			var err error
			if c.at == "UNION ALL" {
				_, err = s.List(ctx, "x")
			} else {
				err = s.Renew(ctx, driver.Renewal{Namespace: "x", FencingToken: 1, ClaimID: "c", TTL: 1})
			}
			if !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
	}
}
