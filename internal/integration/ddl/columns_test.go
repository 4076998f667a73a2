package ddl

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/ddl"
)

// The domain and the CHECK take the layout's ids and refuse all else, zero too.
func TestDomainAndCheck(t *testing.T) {
	onEvery(t, func(t *testing.T, s *server) {
		for i, c := range layouts() {
			config := ddl.Config{Dialect: s.Dialect, Layout: c.layout, Prefix: fmt.Sprintf("l%d_", i)}
			tables := map[string]string{"checked": "bigint " + ok(config.Check("id"))(t)}
			if s.Dialect == ddl.Postgres {
				s.Run(t, ok(config.Domain())(t)...)
				tables["domained"] = config.Prefix + "id"
			}
			for table, kind := range tables {
				s.Run(t, "CREATE TABLE "+table+" (id "+kind+")")
				last := lastID(c.layout)
				s.Run(t, "INSERT INTO "+table+" VALUES (1)", fmt.Sprintf("INSERT INTO %s VALUES (%d)", table, last))
				refused := []int64{0, -1, math.MinInt64 + 1}
				if last < math.MaxInt64 {
					refused = append(refused, last+1, math.MaxInt64)
				}
				for _, id := range refused {
					if err := s.Try(fmt.Sprintf("INSERT INTO %s VALUES (%d)", table, id)); err == nil {
						t.Errorf("%s: %s took %d", c.name, table, id)
					}
				}
				s.Run(t, "DROP TABLE "+table)
			}
		}
	})
}

// In SQLite a CHECK sees a missing key where the column is no rowid.
func TestCheckWithoutRowid(t *testing.T) {
	onEvery(t, func(t *testing.T, s *server) {
		if s.Dialect != ddl.SQLite {
			return
		}
		check := ok(ddl.Config{Dialect: s.Dialect}.Check("id"))(t)
		for columns, refused := range map[string]bool{
			"(id bigint NOT NULL PRIMARY KEY " + check + ", note text) WITHOUT ROWID": true,
			"(id bigint NOT NULL PRIMARY KEY " + check + ", note text)":               true,
			"(id integer NOT NULL PRIMARY KEY " + check + ", note text)":              false,
		} {
			t.Run(columns, func(t *testing.T) {
				s.Run(t, "CREATE TABLE keys "+columns, "INSERT INTO keys VALUES (2034567890123456789, 'a')")
				if _, err := s.Exec("INSERT INTO keys (note) VALUES ('forgotten')"); (err != nil) != refused {
					t.Errorf("%s: %v", columns, err)
				}
				s.Run(t, "DROP TABLE keys")
			})
		}
	})
}

// A generated column of a column that is not there is an error, not a text.
func TestMisspeltColumn(t *testing.T) {
	onEvery(t, func(t *testing.T, s *server) {
		config := ddl.Config{Dialect: s.Dialect}
		if err := s.Try("CREATE TABLE wrong (id bigint, " + ok(config.GeneratedColumn("at", ddl.Time, "idd"))(t) + ")"); err == nil {
			t.Error("a column of no column was made")
		}
		s.Run(t, "CREATE TABLE good (id bigint)")
		if err := s.Try("SELECT " + ok(config.Expression(ddl.WorkerID, "idd"))(t) + " FROM good"); err == nil {
			t.Error("an expression over no column ran")
		}
	})
}

// Names with all that could break out of quotes come to the catalog as they are.
func TestHostileNames(t *testing.T) {
	onEvery(t, func(t *testing.T, s *server) {
		s.Run(t, "CREATE TABLE victim (id bigint)")
		names := []string{
			`x"; DROP TABLE victim; --`, "x`; DROP TABLE victim; --", `x'; DROP TABLE victim; --`, `\`, `\'`, `\"`, "\\`", `"`, "`", "'", `""`, "``",
			"--", "/*", "*/", "#", ";", "$$", "$1", "?", "%s", "a\nb", "a\tb", "a.b", "select", "ÄÖ", "名", " x", "x\u00a0", "e\u0301",
			strings.Repeat(`"`, 40), strings.Repeat("`", 40), "\x01", "\x7f",
		}
		for range 10 {
			var b strings.Builder
			for range 1 + rand.IntN(20) {
				b.WriteString([]string{`"`, "`", "'", `\`, ";", "-", "*", "$", "\n", " ", "x", "é"}[rand.IntN(12)])
			}
			names = append(names, b.String()+"x") // MySQL has no name that ends in a space
		}
		for _, name := range names {
			t.Run(name, func(t *testing.T) {
				config := ddl.Config{Dialect: s.Dialect}
				s.Run(t, "CREATE TABLE "+quoted(s, name)+" (worker bigint)")
				found := map[ddl.Dialect]string{
					ddl.SQLite:   "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = ?",
					ddl.Postgres: "SELECT count(*) FROM pg_class WHERE relkind = 'r' AND relname = $1 AND relnamespace = current_schema()::regnamespace",
					ddl.MySQL:    "SELECT count(*) FROM information_schema.tables WHERE table_schema = database() AND BINARY table_name = ?",
				}[s.Dialect]
				if n := one[int](t, s, found, name); n != 1 {
					t.Errorf("%q: there are %d tables of this name", name, n)
				}
				s.Run(t, ok(config.View(name+" v", name, "worker"))(t)...)
				s.Run(t, "DROP VIEW "+quoted(s, name+" v"), "DROP TABLE "+quoted(s, name))
				s.Run(t, "CREATE TABLE t ("+quoted(s, name)+" bigint "+ok(config.Check(name))(t)+", "+ok(config.GeneratedColumn(name+" g", ddl.WorkerID, name))(t)+")",
					fmt.Sprintf("INSERT INTO t (%s) VALUES (%d)", quoted(s, name), 1<<12))
				if got := one[int](t, s, "SELECT "+ok(config.Expression(ddl.WorkerID, "t", name))(t)+" FROM t"); got != 1 {
					t.Errorf("%q: worker %d", name, got)
				}
				if err := s.Try("INSERT INTO t (" + quoted(s, name) + ") VALUES (-1)"); err == nil {
					t.Errorf("%q: its check takes all", name)
				}
				s.Run(t, "DROP TABLE t")
				if s.Dialect == ddl.SQLite {
					return
				}
				config.Prefix, config.Schema = name, one[string](t, s, "SELECT "+map[ddl.Dialect]string{ddl.Postgres: "current_schema()", ddl.MySQL: "database()"}[s.Dialect])
				call := quoted(s, name+"worker_id") + "(4096)"
				for _, config.Layout = range []core.Layout{core.Sonyflake(), core.Twitter(), core.Twitter()} { // replaced
					s.Run(t, ok(config.Functions())(t)...)
				}
				if got := one[int](t, s, "SELECT "+call); got != 1 {
					t.Errorf("%q: worker %d", name, got)
				}
				for range 2 {
					s.Run(t, ok(config.DropFunctions())(t)...)
				}
				if err := s.Try("SELECT " + call); err == nil {
					t.Errorf("%q: still there", name)
				}
				p := ddl.Partitioning{Dialect: s.Dialect, Table: name, Column: name, By: ddl.Month}
				parts := ok(p.Bounds(core.Twitter().Epoch, core.Twitter().Epoch.AddDate(0, 2, 0)))(t)
				s.Run(t, "CREATE TABLE "+quoted(s, name)+" ("+quoted(s, name)+" bigint PRIMARY KEY) "+ok(p.Clause(parts))(t))
				if s.Dialect == ddl.Postgres {
					s.Run(t, ok(p.Create(parts))(t)...)
				}
				if have, err := p.Read(t.Context(), s); err != nil || len(have) != 3 {
					t.Errorf("%q: read %+v, %v", name, have, err)
				}
				s.Run(t, "DROP TABLE "+quoted(s, name))
			})
		}
		s.Run(t, "SELECT * FROM victim")
	})
}
