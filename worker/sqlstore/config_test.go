package sqlstore

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/internal/leasetables"
)

func ExampleConfig_DDL() {
	tables, err := Config{Dialect: ddl.Postgres, Table: "app.worker_ids"}.DDL()
	for _, statement := range tables {
		fmt.Println(statement + ";")
	}
	fmt.Println(err)
	// Output:
	// CREATE TABLE IF NOT EXISTS "app"."worker_ids_namespace" (namespace VARCHAR(64) NOT NULL PRIMARY KEY, layout VARCHAR(255) NOT NULL, fence_window BIGINT NOT NULL, max_skew BIGINT NOT NULL, incarnation VARCHAR(255) NOT NULL, since BIGINT NOT NULL, floor BIGINT NOT NULL, seen BIGINT NOT NULL, version BIGINT NOT NULL);
	// CREATE TABLE IF NOT EXISTS "app"."worker_ids" (namespace VARCHAR(64) NOT NULL, worker_id BIGINT NOT NULL, claim_id VARCHAR(64) NOT NULL, fencing_token BIGINT NOT NULL, start BIGINT NOT NULL, fence BIGINT NOT NULL, owner VARCHAR(255) NOT NULL, state VARCHAR(16) NOT NULL, PRIMARY KEY (namespace, worker_id));
	// CREATE TABLE IF NOT EXISTS "app"."worker_ids_claim" (namespace VARCHAR(64) NOT NULL, worker_id BIGINT NOT NULL, fencing_token BIGINT NOT NULL, start BIGINT NOT NULL, ended BIGINT NOT NULL, owner VARCHAR(255) NOT NULL, claimed BIGINT NOT NULL, PRIMARY KEY (namespace, worker_id, fencing_token));
	// CREATE TABLE IF NOT EXISTS "app"."worker_ids_counter" (name VARCHAR(64) NOT NULL PRIMARY KEY, value BIGINT NOT NULL);
	// <nil>
}

func TestConfigFaults(t *testing.T) {
	db := sql.OpenDB(new(fake)) // it is not used
	defer db.Close()
	for _, c := range []struct {
		cfg   Config
		field string
	}{
		{Config{}, "Dialect"}, {Config{Dialect: "oracle"}, "Dialect"},
		{Config{Table: "a b"}, "Table"}, {Config{Table: "a;b"}, "Table"}, {Config{Table: `a"b`}, "Table"}, {Config{Table: "a`b"}, "Table"},
		{Config{Table: "1a"}, "Table"}, {Config{Table: "a.b.c"}, "Table"}, {Config{Table: ".a"}, "Table"}, {Config{Table: "a."}, "Table"},
		{Config{Table: "ä"}, "Table"}, {Config{Table: "a'--"}, "Table"}, {Config{Table: strings.Repeat("x", 49)}, "Table"},
	} {
		t.Run(fmt.Sprintf("%+v", c.cfg), func(t *testing.T) {
			var config *core.ConfigError
			if _, err := New(db, c.cfg); (c.cfg.Dialect != "" || c.cfg.Table != "") && (!errors.As(err, &config) || config.Fields[0].Field != c.field) { // New detects the dialect
				t.Errorf("New: %v", err)
			}
			if c.field == "Table" {
				c.cfg.Dialect = ddl.SQLite
			}
			if tables, err := c.cfg.DDL(); !errors.As(err, &config) || config.Fields[0].Field != c.field || tables != nil {
				t.Errorf("DDL: %q, %v", tables, err)
			}
		})
	}
	if _, err := New(nil, Config{}); err == nil || !strings.Contains(err.Error(), "must be an open *sql.DB") {
		t.Error(err)
	}
}

// FuzzTableName holds that a name that passes can end neither its quotes nor the statement.
func FuzzTableName(f *testing.F) {
	for _, name := range []string{"a", "a.b", `a"b`, "a`b", "a b", "a;--", "1a", "ä", "a.b.c", "a\n"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if _, err := (Config{Dialect: ddl.MySQL, Table: name}).DDL(); err == nil && (strings.ContainsAny(name, "\"`'; \n\x00") || len(name) > 97) {
			t.Errorf("%q passes", name)
		}
	})
}

func TestTableNames(t *testing.T) {
	for given, want := range map[string][2]string{
		"": {"snow_namespace", "snow_counter"}, "app.my_ids": {"my_ids_namespace", "my_ids_counter"}, "a.big_lease": {"big_namespace", "big_counter"},
	} {
		names := Config{Table: given}.tables("")
		if got := [2]string{names.Name(leasetables.Namespaces), names.Name(leasetables.Counters)}; got != want {
			t.Errorf("%q: %q, want %q", given, got, want)
		}
	}
}

func TestRetryUndone(t *testing.T) {
	tries := 0
	err := retryUndone(t.Context(), func() error {
		if tries++; tries < 3 {
			return state("40001")
		}
		return nil
	})
	if err != nil || tries != 3 {
		t.Errorf("%d tries, %v", tries, err)
	}
}

// A literal is ASCII, and cannot be ended from within.
func TestLiteral(t *testing.T) {
	x := session{server: &server{Config: Config{Dialect: ddl.Postgres}}}
	for text, want := range map[string]string{
		"orders-1": "E'orders-1'", "": "E''", `a'b\c?`: `E'a\x27b\\c\x3f'`, "ä🖥": `E'\u00e4\U0001f5a5'`,
	} {
		if got := x.literal(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	if text, err := x.expand(t.Context(), 0, x.fill("SELECT ?, ?, ?", "?{l}", int64(-1), "x")); text != `SELECT E'\x3f\x7bl}', -1, E'x'` || err != nil {
		t.Error(text, err)
	}
}
