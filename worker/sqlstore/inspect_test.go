package sqlstore

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore/internal/file"
)

// A sound is a server of a dialect, with a namespace that is recorded.
type sound struct {
	version   string
	variables map[string]string // of MySQL
	tables    bool
	records   [][]any
	unchanged bool // no UPDATE finds its row
}

const (
	testNow  = int64(1_000_000)
	testLife = "a life"
)

// empty is a row of session.read that has nothing.
var empty = []any{
	int64(-1), "", int64(0), int64(0), int64(0), "", "",
	"", "", int64(0), int64(0), "", int64(0), int64(0), int64(0), int64(0),
	int64(0), "", int64(0), int64(0),
}

func (s *sound) answer(query string) answer {
	switch {
	case query == "SELECT version()" && s.version == "":
		return answer{err: errors.New("SQL logic error: no such function: version (1)")}
	case query == "SELECT version()" && strings.Contains(s.version, ": "):
		return answer{err: errors.New(s.version)}
	case query == "SELECT version()":
		return row(s.version)
	case contains(query, "@@version_comment"):
		return row("shop", "")
	case contains(query, "SHOW VARIABLES"):
		var rows [][]any
		for name, value := range s.variables {
			rows = append(rows, []any{name, value})
		}
		return answer{rows: rows}
	case contains(query, "SELECT -1, "):
		if strings.HasPrefix(query, "INSERT") {
			break
		}
		rows := [][]any{
			slices.Concat(empty[:16], []any{testNow, testLife, int64(4), int64(1)}),
			slices.Concat(empty[:7], []any{"orders", "l", int64(30_000), int64(10_000), testLife, int64(1), int64(0), int64(4), int64(1)}, empty[16:]),
			slices.Concat(empty[:7], []any{"*", "", int64(30_000), int64(10_000), testLife, int64(1), int64(0), int64(1), int64(1)}, empty[16:]),
		}
		for _, record := range s.records {
			rows = append(rows, slices.Concat(record, empty[7:]))
		}
		return answer{rows: rows}
	case contains(query, "information_schema.tables WHERE table_schema", "pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n", "sqlite_master") && contains(query, "'-'"):
		if !s.tables {
			return answer{}
		}
		return answer{rows: [][]any{{"snow_namespace", "-"}, {"snow_lease", "-"}, {"snow_claim", "-"}, {"snow_counter", "-"}}}
	case contains(query, "CREATE TABLE"):
		s.tables = true
	case contains(query, "schema_version"):
		return row(int64(9))
	case contains(query, "database_list"):
		return row(os.Args[0]) // any file
	case contains(query, "journal_mode"):
		return row("delete")
	case contains(query, "synchronous") && !contains(query, "SET", "set_config"):
		return row(int64(1)) // NORMAL
	case query == "SELECT @@autocommit":
		return row(int64(1))
	case contains(query, "RETURNING fence") && s.unchanged:
		return answer{}
	case contains(query, "RETURNING fence"):
		return row(int64(1_030_000))
	case contains(query, "RETURNING value"):
		return row(int64(20))
	case contains(query, "LAST_INSERT_ID"):
		return answer{changed: 20}
	case contains(query, "RETURNING 1"):
		return row(int64(1))
	case strings.HasSuffix(query, ", version()"):
		return row(testLife, s.version)
	case strings.HasPrefix(query, "SELECT") && contains(query, "concat_ws", "CONVERT("):
		return row(testLife)
	case contains(query, "SELECT CASE WHEN"):
		var values []any
		for range strings.Count(query, "CASE WHEN") {
			values = append(values, "-")
		}
		return row(values...)
	}
	return answer{changed: 1}
}

// The files in testdata are the conversation of each verb with a server. After a change on
// purpose, SNOWKEY_UPDATE=1 writes them anew.
func TestStatements(t *testing.T) {
	held := []any{int64(3), "first", int64(4), int64(900_000), int64(1_020_000), "me", "held"}
	free := []any{int64(3), "before", int64(4), int64(900_000), int64(950_000), "me", "released"}
	claim := driver.Claim{Namespace: "orders", Layout: "l", WorkerIDs: 8, Preferred: 3, RequirePreferred: true, Exclude: -1, ClaimID: "first", Owner: "O'Neill", Now: testNow, FenceWindow: 30_000}
	for name, server := range map[string]*sound{
		"postgres": {version: "PostgreSQL 17.1"}, "mysql": {version: "8.4.1"}, "mariadb": {version: "11.8.2-MariaDB", variables: map[string]string{"server_uid": "x"}},
		"galera": {version: "11.8.2-MariaDB", variables: map[string]string{"wsrep_on": "ON"}}, "group": {version: "8.4.1", variables: map[string]string{"group_replication_group_name": "g"}},
		"sqlite": {},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fake{answer: server.answer}
			s := mustNew(New(f.open(t), Config{}))
			var conversation strings.Builder
			for _, step := range []struct {
				what    string
				records [][]any
				call    func() (any, error)
			}{
				{"claim", [][]any{free}, func() (any, error) { return s.Claim(t.Context(), claim) }},
				{"claim repeated", [][]any{held}, func() (any, error) { return s.Claim(t.Context(), claim) }},
				{"renew", nil, func() (any, error) {
					return s.Renew(t.Context(), driver.Renewal{Namespace: "orders", Worker: 3, FencingToken: 4, ClaimID: "first", FenceWindow: 30_000})
				}},
				{"release", nil, func() (any, error) {
					return nil, s.Release(t.Context(), driver.Release{Namespace: "orders", Worker: 3, FencingToken: 4, ClaimID: "first", Unused: 1_000_001})
				}},
				{"free", nil, func() (any, error) { return nil, s.Free(t.Context(), "orders", 3, 4) }},
				{"list", [][]any{held}, func() (any, error) { return s.List(t.Context(), "orders") }},
				{"raise", [][]any{held}, func() (any, error) { return s.Raise(t.Context(), "orders", 0) }},
				{"make a namespace", nil, func() (any, error) {
					ns := driver.Namespace{Name: "orders", Layout: "l", FenceWindow: 30_000, MaxSkew: 10_000, Incarnation: testLife, Since: testNow, Version: 1}
					index := driver.Namespace{FenceWindow: 30_000, MaxSkew: 10_000, Incarnation: testLife, Since: 1, Version: 1}
					return write(t, s, claim, driver.State{Missing: true, Index: &driver.State{Namespace: index}}, driver.Change{Index: &index, Namespace: &ns})
				}},
				{"make a record", nil, func() (any, error) {
					return write(t, s, claim, driver.State{Namespace: driver.Namespace{Incarnation: testLife, Seen: 4, Version: 1}}, driver.Change{Make: &claim.Preferred})
				}},
				{"reserve", nil, func() (any, error) { return s.Reserve(t.Context(), "invoices", 10) }},
			} {
				server.records = step.records
				result, err := step.call()
				fmt.Fprintf(&conversation, "-- %s: %v, %v\n", step.what, result, err)
				for _, query := range f.taken() {
					conversation.WriteString(query + ";\n")
				}
			}
			got := conversation.String()
			if name == "sqlite" { // the file of the test
				id, err := file.ID(os.Args[0])
				if err != nil {
					t.Fatal(err)
				}
				got = strings.ReplaceAll(got, id, "FILE")
			}
			golden := filepath.Join("testdata", name+".sql")
			if os.Getenv("SNOWKEY_UPDATE") != "" {
				if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("not what %s has:\n%s", golden, got)
			}
		})
	}
}

// write writes a change of a claim.
func write(t *testing.T, s *Store, c driver.Claim, st driver.State, ch driver.Change) (bool, error) {
	return call(t.Context(), s, "write", leaseTables, func(x session) (bool, error) { return x.writeClaim(t.Context(), c, st, ch) })
}

// If a database cannot be identified, Dialect must be set. A lost connection says nothing about it.
func TestDetect(t *testing.T) {
	gone := errors.New("connection lost")
	for version, want := range map[string]ddl.Dialect{
		"PostgreSQL 17.1 on x86_64": ddl.Postgres, "11.8.2-MariaDB": ddl.MySQL, "": ddl.SQLite, "Firebird 5": "unknown", "gone": "gone",
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
		case want != "unknown" && want != "gone" && (err != nil || s.inspected.Load().Dialect != want):
			t.Errorf("%s: %v", version, err)
		}
	}
}

// A database that is compatible with another one, but does not show when it was put back, is refused by
// its name, also if Dialect is set.
func TestUnsupported(t *testing.T) {
	for _, c := range []struct {
		version, name string
		dialect       ddl.Dialect
	}{
		{"CockroachDB CCL v24.1.1 (x86_64-pc-linux-gnu)", "CockroachDB", ""},
		{"PostgreSQL 11.2-YB-2.21.0.0-b0 on x86_64", "YugabyteDB", ""},
		{"PostgreSQL 8.0.2 on i686-pc-linux-gnu, Redshift 1.0.77", "Redshift", ""},
		{"8.0.11-TiDB-v7.5.0", "TiDB", ""},
		{"8.0.11-TiDB-v7.5.0", "TiDB", ddl.MySQL},
		{"8.4.6-Vitess", "Vitess", ""},
		{"mssql: 'version' is not a recognized built-in function name.", "SQL Server", ""},
		{"ORA-00923: FROM keyword not found where expected", "Oracle", ""},
		{"CockroachDB CCL v24.1.1 (x86_64-pc-linux-gnu)", "CockroachDB", ddl.Postgres}, // as package gormplugin opens it
		{"PostgreSQL 11.2-YB-2.21.0.0-b0 on x86_64", "YugabyteDB", ddl.Postgres},
	} {
		f := &fake{answer: (&sound{version: c.version, tables: true}).answer}
		s := mustNew(New(f.open(t), Config{Dialect: c.dialect}))
		_, err := s.List(t.Context(), "x")
		if err == nil || !driver.IsPermanent(err) || !strings.Contains(err.Error(), "leases cannot be kept in "+c.name) || !strings.Contains(err.Error(), c.version) {
			t.Errorf("%s: %v", c.version, err)
		}
	}
}

// What a server refuses to everyone is left out of its incarnation; a right that the role lacks, and a
// standby, are errors.
func TestIncarnation(t *testing.T) {
	for _, c := range []struct {
		refuses string
		err     error
		want    string
	}{
		{"nothing", nil, "system identifier, timeline, database, table, reset of statistics"},
		{"pg_current_wal_lsn", state("0A000"), "database, table, start"},
		{"pg_walfile_name", state("42883"), "database, table, start"},
		{"pg_control_system", state(denied), "EXECUTE on the functions of the store: GRANT it"},
		{"concat_ws", errors.New("connection lost"), "connection lost"},
		{"standby", state("55000"), "the server is a standby"},
		{"pg_current_wal_lsn", state("55000"), "database, table, start"}, // as Aurora does
		{"promotion", state("55000"), "system identifier, timeline, database, table, reset of statistics"},
		{"pg_current_wal_lsn", state("XX000"), "XX000"},
	} {
		server, promoted := &sound{version: "PostgreSQL 17", tables: true}, false
		f := &fake{answer: func(query string) answer {
			switch {
			case c.refuses == "promotion" && !promoted && contains(query, "concat_ws"):
				promoted = true // before the next query
				return answer{err: c.err}
			case contains(query, "pg_is_in_recovery"):
				return row(c.refuses == "standby")
			case contains(query, c.refuses), c.refuses == "standby" && contains(query, "concat_ws"):
				return answer{err: c.err}
			}
			return server.answer(query)
		}}
		value, parts, err := mustNew(New(f.open(t), Config{})).Incarnation(t.Context())
		if got := fmt.Sprint(strings.Join(parts, ", "), err); !strings.Contains(got, c.want) || err == nil && value != testLife {
			t.Errorf("%s: %q, %s, want %s", c.refuses, value, got, c.want)
		}
	}
}

// A renewal that waits for a lock is undone, and makes the next one set a limit in MySQL's session.
func TestLocked(t *testing.T) {
	server := &sound{version: "8.4.1", tables: true}
	locked := false
	f := &fake{answer: func(query string) answer {
		if locked && contains(query, "LAST_INSERT_ID") {
			return answer{err: &mysql.MySQLError{Number: 1205, Message: "Lock wait timeout exceeded"}}
		}
		return server.answer(query)
	}}
	s := mustNew(New(f.open(t), Config{}))
	renew := func() error {
		_, err := s.Renew(t.Context(), driver.Renewal{Namespace: "orders", Worker: 3, FencingToken: 4, ClaimID: "first", FenceWindow: 30_000})
		return err
	}
	if err := renew(); err != nil {
		t.Fatal(err)
	}
	locked = true
	if err := renew(); !errors.Is(err, driver.ErrLocked) {
		t.Errorf("%v, want ErrLocked", err)
	}
	f.taken()
	_ = renew()
	if asked := strings.Join(f.taken(), "; "); !strings.Contains(asked, "innodb_lock_wait_timeout = 2") {
		t.Error(asked)
	}
	if n := s.db.Stats().OpenConnections; n != 0 {
		t.Errorf("%d connections with that limit are in the pool", n)
	}
}

// If MySQL's default of autocommit was changed after the inspection, a write in such a session is not made:
// the error is not permanent, so that it is tried again.
func TestAutocommitChanged(t *testing.T) {
	off := false
	server := &sound{version: "8.4.1", tables: true}
	f := &fake{answer: func(query string) answer {
		switch {
		case off && contains(query, "SELECT CASE WHEN"):
			return row("-", "")
		case off && strings.HasPrefix(query, "UPDATE") && contains(query, "@@autocommit = 1"):
			return answer{}
		}
		return server.answer(query)
	}}
	s := mustNew(New(f.open(t), Config{}))
	for _, off = range []bool{false, true, false} {
		err := s.Release(t.Context(), driver.Release{Namespace: "orders", Worker: 3, FencingToken: 4, ClaimID: "first", Unused: 1})
		if off != errors.Is(err, errAutocommit) || off == (err == nil) || driver.IsPermanent(err) {
			t.Errorf("off %t: %v", off, err)
		}
	}
}

// Settings that may lose a number are refused by their names.
func TestBadSettings(t *testing.T) {
	for version, of := range map[string]struct{ always, counters int }{"PostgreSQL": {1, 1}, "8.4.1": {2, 3}} {
		for bad := range of.counters {
			server := &sound{version: version, tables: true}
			f := &fake{answer: func(query string) answer {
				switch {
				case contains(query, "SELECT CASE WHEN"):
					values := slices.Repeat([]any{"-"}, of.always+of.counters)
					values[of.always+bad] = "0"
					return row(values...)
				case contains(query, "RETURNING value"):
					return answer{}
				case contains(query, "LAST_INSERT_ID"):
					return answer{}
				}
				return server.answer(query)
			}}
			s := mustNew(New(f.open(t), Config{}))
			_, err := s.Reserve(t.Context(), "x", 1)
			var lossy *driver.DurabilityError
			if !errors.As(err, &lossy) || lossy.Setting != s.inspected.Load().ofCounters[of.always+bad].setting || lossy.Value != "0" {
				t.Errorf("%s: %v", version, err)
			}
		}
	}
}
