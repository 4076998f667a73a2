package sqlstore

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/worker/driver"

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
	return &oneValue{value: value}, nil
}

// IsValid implements sqldriver.Validator: who has lost a connection is given another.
func (c *scriptedConn) IsValid() bool { return !c.gone }

type oneValue struct {
	value sqldriver.Value
	read  bool
}

func (*oneValue) Columns() []string { return []string{"value"} }
func (*oneValue) Close() error      { return nil }
func (r *oneValue) Next(into []sqldriver.Value) error {
	if r.read {
		return io.EOF
	}
	r.read, into[0] = true, r.value
	return nil
}

// A setting is not checked if the database hides it, but it is if a connection was lost
// during the query: the store would not look again.
func TestSettingAndALostConnection(t *testing.T) {
	lossy := func(d Dialect) func(string) (sqldriver.Value, error) {
		return func(query string) (sqldriver.Value, error) {
			switch {
			case strings.Contains(query, "current_setting('fsync')"):
				return "off", nil
			case strings.Contains(query, "flush_log"), strings.HasSuffix(query, ".synchronous"):
				return "0", nil
			case d == SQLite:
				return "wal", nil
			}
			return "1", nil
		}
	}
	for _, c := range []struct {
		name    string
		dialect Dialect
		by      string
	}{
		{"fsync", Postgres, "'fsync'"}, {"innodb_flush_log_at_trx_commit", MySQL, "flush_log"}, {"synchronous", SQLite, ".synchronous"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for lost := range 8 {
				db := sql.OpenDB(&scripted{answer: lossy(c.dialect), lost: lost, by: c.by})
				err := mustNew(New(db, Config{})).checkDurability(t.Context(), Config{Dialect: c.dialect})
				var found *driver.DurabilityError
				if !errors.As(err, &found) && !errors.Is(err, errGone) || found != nil && found.Setting != c.name {
					t.Errorf("%s, %d connections lost: %v", c.name, lost, err)
				}
				if lost == 1 && found == nil {
					t.Errorf("%s: one lost connection: %v", c.name, err)
				}
				_ = db.Close()
			}
		})
	}
	for _, lost := range []int{1, 7} {
		db := sql.OpenDB(&scripted{answer: func(string) (sqldriver.Value, error) { return int64(1), nil }, lost: lost, by: "wsrep"})
		if on, err := mustNew(New(db, Config{})).isGalera(t.Context(), MySQL); on == (err != nil) || on != (lost == 1) {
			t.Errorf("galera, %d connections lost: %v, %v", lost, on, err)
		}
		_ = db.Close()
	}
}

func TestSettingThatIsDenied(t *testing.T) {
	db := sql.OpenDB(&scripted{answer: func(string) (sqldriver.Value, error) { return nil, errDenied }})
	defer db.Close()
	db.SetMaxOpenConns(1)
	for d, want := range map[Dialect]error{Postgres: nil, MySQL: nil, SQLite: errDenied} {
		t.Run(d.String(), func(t *testing.T) {
			if err := mustNew(New(db, Config{})).checkDurability(t.Context(), Config{Dialect: d}); !errors.Is(err, want) {
				t.Errorf("%v: %v", d, err)
			}
		})
	}
	if on, err := mustNew(New(db, Config{})).isGalera(t.Context(), MySQL); on || err != nil {
		t.Errorf("%v, %v", on, err)
	}
}

// If a database cannot be identified, Dialect must be set. If the connection is lost during the
// query, the store asks again.
func TestDetect(t *testing.T) {
	for version, want := range map[sqldriver.Value]Dialect{
		"PostgreSQL 17.1 on x86_64": Postgres, "8.0.11-TiDB-v7.5.0": MySQL, "11.8.2-MariaDB": MySQL, "CockroachDB CCL v24.1": Detect, "": Detect, nil: Detect,
	} {
		for lost := range 3 {
			db := sql.OpenDB(&scripted{lost: lost, by: "version()", answer: func(query string) (sqldriver.Value, error) {
				if version == nil || query != "SELECT version()" {
					return nil, errDenied
				}
				return version, nil
			}})
			got, err := mustNew(New(db, Config{})).detect(t.Context())
			var config *core.ConfigError
			if got != want || errors.As(err, &config) != (want == Detect) {
				t.Errorf("%v, %d connections lost: %v, %v", version, lost, got, err)
			}
			if config != nil && (config.Fields[0].Field != "Dialect" || !strings.Contains(err.Error(), "set Postgres, MySQL or SQLite")) {
				t.Error(err)
			}
			_ = db.Close()
		}
	}
	db := sql.OpenDB(&scripted{lost: 9, by: "version()"})
	defer db.Close()
	if _, err := mustNew(New(db, Config{})).detect(t.Context()); !errors.Is(err, errGone) {
		t.Errorf("a database that is away: %v", err)
	}
}

// mustNew returns a store that New has made.
func mustNew[S any](s S, err error) S {
	if err != nil {
		panic(err)
	}
	return s
}
