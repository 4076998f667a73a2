package sqlstore

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/core"
)

// scripted is a database whose connections answer as a test wants.
type scripted struct {
	answer func(query string) (value sqldriver.Value, err error)
	lost   int // so many connections are lost by the first query that contains this
	by     string
}

var errDenied, errGone = errors.New("denied"), errors.New("connection lost")

func (s *scripted) Connect(context.Context) (sqldriver.Conn, error) { return &scriptedConn{of: s}, nil }
func (s *scripted) Driver() sqldriver.Driver                        { return nil }

type scriptedConn struct {
	sqldriver.Conn
	of   *scripted
	gone bool
}

func (c *scriptedConn) Close() error { return nil }
func (c *scriptedConn) QueryContext(_ context.Context, query string, _ []sqldriver.NamedValue) (sqldriver.Rows, error) {
	if c.of.lost > 0 && strings.Contains(query, c.of.by) {
		c.of.lost--
		c.gone = true
	}
	if c.gone {
		return nil, errGone
	}
	if query == "SELECT 1" {
		return &oneValue{value: int64(1)}, nil
	}
	value, err := c.of.answer(query)
	if err != nil {
		return nil, err
	}
	return &oneValue{value: value, columns: max(1, strings.Count(query, "(SELECT @@")+strings.Count(query, "(SELECT CASE"))}, nil
}

func (c *scriptedConn) ExecContext(context.Context, string, []sqldriver.NamedValue) (sqldriver.Result, error) {
	return sqldriver.RowsAffected(0), nil
}

// IsValid implements sqldriver.Validator: who has lost a connection is given another.
func (c *scriptedConn) IsValid() bool { return !c.gone }

// oneValue is a row whose columns have all the same value.
type oneValue struct {
	value   sqldriver.Value
	columns int
	read    bool
}

func (r *oneValue) Columns() []string { return make([]string, max(r.columns, 1)) }
func (*oneValue) Close() error        { return nil }
func (r *oneValue) Next(into []sqldriver.Value) error {
	if r.read {
		return io.EOF
	}
	r.read = true
	for i := range into {
		into[i] = r.value
	}
	return nil
}

// A setting that cannot be read is a refusal, whatever the reason is; only one that MySQL says it
// does not have, and that belongs to a plugin, is none.
func TestSettingThatCannotBeRead(t *testing.T) {
	noVariable := errors.New("Error 1193 (HY000): Unknown system variable")
	for _, c := range []struct {
		dialect Dialect
		in      string // the query that fails
		err     error
		want    error
	}{
		{Postgres, "'fsync'", state("42P05"), state("42P05")},
		{Postgres, "'fsync'", state("26000"), state("26000")},
		{Postgres, "'fsync'", state("42704"), state("42704")},
		{Postgres, "'fsync'", errDenied, errDenied},
		{MySQL, "flush_log", noVariable, noVariable},
		{MySQL, "sync_binlog", errDenied, errDenied},
		{MySQL, "wsrep", noVariable, nil},
		{MySQL, "group_name", noVariable, nil},
		{MySQL, "wsrep", errDenied, errDenied},
		{MySQL, "group_name", errDenied, errDenied},
		{SQLite, "database_list", errDenied, errDenied},
	} {
		t.Run(fmt.Sprint(c.dialect, " ", c.in, " ", c.err), func(t *testing.T) {
			db := sql.OpenDB(&scripted{answer: func(query string) (sqldriver.Value, error) {
				if strings.Contains(query, c.in) {
					return nil, c.err
				}
				return map[bool]sqldriver.Value{true: "on", false: "1"}[c.dialect == Postgres], nil
			}})
			defer db.Close()
			conn, err := db.Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			st, err := mustNew(New(db, Config{Dialect: c.dialect, Table: "main.w"})).inspectServer(t.Context(), conn)
			if err == nil {
				err = checkDurability(t.Context(), conn, st.checks)
			}
			if !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
		})
	}
}

// state is PostgreSQL's error with an SQLSTATE.
type state string

func (s state) Error() string    { return "state " + string(s) }
func (s state) SQLState() string { return string(s) }

// If a database cannot be identified, Dialect must be set. A lost connection says nothing about it.
func TestDetect(t *testing.T) {
	for version, want := range map[sqldriver.Value]Dialect{
		"PostgreSQL 17.1 on x86_64": Postgres, "8.0.11-TiDB-v7.5.0": MySQL, "11.8.2-MariaDB": MySQL, "CockroachDB CCL v24.1": Detect, "": Detect, nil: Detect,
	} {
		for lost := range 2 {
			db := sql.OpenDB(&scripted{lost: lost, by: "version()", answer: func(query string) (sqldriver.Value, error) {
				if version == nil || query != "SELECT version()" {
					return nil, errDenied
				}
				return version, nil
			}})
			got, err := detectOn(t, db)
			var config *core.ConfigError
			if lost > 0 {
				want = Detect
			}
			if got != want || errors.As(err, &config) != (want == Detect && lost == 0) || errors.Is(err, errGone) != (lost > 0) {
				t.Errorf("%v, %d connections lost: %v, %v", version, lost, got, err)
			}
			if config != nil && (config.Fields[0].Field != "Dialect" || !strings.Contains(err.Error(), "set Postgres, MySQL or SQLite")) {
				t.Error(err)
			}
			_ = db.Close()
		}
	}
}

func detectOn(t *testing.T, db *sql.DB) (Dialect, error) {
	t.Helper()
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	return detect(t.Context(), conn, nil)
}

// mustNew returns a store that New has made.
func mustNew[S any](s S, err error) S {
	if err != nil {
		panic(err)
	}
	return s
}
