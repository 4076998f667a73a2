package ddl

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/internal/integration/engines"
)

// perLayout is how many random ids or times of a layout are compared.
const perLayout = 2500

var fields = []ddl.Field{ddl.Time, ddl.WorkerID, ddl.Sequence, ddl.Datacenter, ddl.Machine, ddl.Rollback}

// randomIDs has ids of the layout, evenly over its bits and over the lengths of
// ids, its ends, those just next to the ends, and some that it cannot have made.
func randomIDs(l core.Layout, n int) []int64 {
	last := lastID(l)
	ids := []int64{0, 1, last - 1, last, -1, math.MinInt64, math.MaxInt64, math.MaxInt64 - 1}
	if last < math.MaxInt64 {
		ids = append(ids, last+1, last+2)
	}
	for _, year := range []int{1970, 2000, 2106, 2242, 9999, 10000, 71654, 71655, 294276, 294277} {
		if first, err := l.FirstAt(time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)); err == nil {
			ids = append(ids, first, max(first-1, 0))
		}
	}
	for len(ids) < n {
		id := rand.Int64() & last
		switch rand.IntN(20) {
		case 0:
			id >>= rand.IntN(63)
		case 1:
			id = rand.Int64() >> rand.IntN(63)
		case 2:
			id = -rand.Int64()
		}
		ids = append(ids, id)
	}
	return ids
}

// lastID is the greatest id of a layout, found without looking at its widths.
func lastID(l core.Layout) int64 {
	if err := l.Validate(); err != nil {
		panic(err)
	}
	last := int64(math.MaxInt64)
	for {
		if _, err := l.Decode(last); err == nil {
			return last
		}
		last >>= 1
	}
}

// decoded is the expected result of the database for an id: its fields as texts, all NULL
// beyond the layout or the database's times.
func decoded(d ddl.Dialect, l core.Layout, id int64) string {
	p, err := l.Decode(id)
	if err != nil {
		return "NULL NULL NULL NULL NULL NULL"
	}
	format, end := "2006-01-02T15:04:05.000000", 9999
	switch d {
	case ddl.Postgres:
		end = 294276
	case ddl.SQLite:
		format = "2006-01-02T15:04:05.000Z"
	}
	at := p.Time.Format(format)
	if p.Time.Year() > end {
		at = "NULL"
	}
	return fmt.Sprintf("%s %d %d %d %d %d", at, p.Datacenter<<l.WithDefaults().WorkerBits|p.Worker, p.Sequence, p.Datacenter, p.Worker, p.Rollback)
}

// shown makes words of the five fields that are SQL.
func shown(d ddl.Dialect, field func(ddl.Field) string) string {
	words := make([]string, len(fields))
	for i, f := range fields {
		words[i] = field(f)
	}
	switch d {
	case ddl.Postgres:
		words[0] = fmt.Sprintf(`to_char(%s AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US')`, words[0])
	case ddl.MySQL:
		words[0] = fmt.Sprintf(`date_format(%s, '%%Y-%%m-%%dT%%H:%%i:%%s.%%f')`, words[0])
	}
	return strings.Join(words, ", ")
}

func fillIDs(t *testing.T, s *server, ids []int64) {
	t.Helper()
	s.Run(t, "DELETE FROM ids")
	rows := make([]string, len(ids))
	for i, id := range ids {
		rows[i] = fmt.Sprintf("(%d, %d)", i, id)
	}
	// PostgreSQL reads the least bigint as minus what is none.
	s.Run(t, strings.ReplaceAll("INSERT INTO ids VALUES "+strings.Join(rows, ","), "-9223372036854775808", "-9223372036854775807 - 1"))
}

// hasFunction reports whether a field has its own function.
func hasFunction(l core.Layout, f ddl.Field) bool {
	return (f != ddl.Datacenter && f != ddl.Machine || l.DatacenterBits > 0 || l.TimeBits == 0) && (f != ddl.Rollback || l.RollbackBits > 0)
}

// Functions, expressions, generated columns and views return the same as Decode for every id.
func TestFieldsAreDecoded(t *testing.T) {
	onEvery(t, func(t *testing.T, s *server) {
		s.Run(t, "CREATE TABLE ids (n integer PRIMARY KEY, id bigint NOT NULL)")
		for _, c := range layouts() {
			t.Run(c.name, func(t *testing.T) {
				config := ddl.Config{Dialect: s.Dialect, Layout: c.layout}
				ids, from := randomIDs(c.layout, perLayout), "ids"
				fillIDs(t, s, ids)
				check := func(how string, field func(ddl.Field) string) {
					t.Helper()
					got := s.Lines(t, "SELECT "+shown(s.Dialect, field)+" FROM "+from+" ORDER BY n")
					if len(got) != len(ids) {
						t.Fatalf("%s: %d rows of %d ids", how, len(got), len(ids))
					}
					faults := 0
					for i, id := range ids {
						if want := decoded(s.Dialect, c.layout, id); got[i] != want {
							if faults++; faults < 5 {
								t.Errorf("%s of %d: %s, want %s", how, id, got[i], want)
							}
						}
					}
				}
				check("expression", func(f ddl.Field) string { return ok(config.Expression(f, "ids", "id"))(t) })
				generated := func(f ddl.Field) string { return quoted(s, string(f)+" at") }
				s.Run(t, "CREATE TABLE made (n integer PRIMARY KEY, id bigint NOT NULL, "+ok(config.GeneratedColumn("time at", ddl.Time, "id"))(t)+")")
				for _, f := range fields[1:] { // to a table that is there already
					s.Run(t, "ALTER TABLE made ADD COLUMN "+ok(config.GeneratedColumn(string(f)+" at", f, "id"))(t))
				}
				s.Run(t, "CREATE INDEX by_time ON made ("+generated(ddl.Time)+")", "INSERT INTO made (n, id) SELECT n, id FROM ids")
				s.Run(t, ok(config.View("fields of rows", "made", "id"))(t)...)
				from = "made"
				check("generated column", generated)
				from = quoted(s, "fields of rows")
				check("view", func(f ddl.Field) string {
					if hasFunction(c.layout, f) {
						return "snowflake_" + string(f)
					}
					return generated(f)
				})
				s.Run(t, "DROP VIEW "+from, "DROP TABLE made")
				if s.Dialect == ddl.SQLite {
					return
				}
				s.Run(t, ok(config.Functions())(t)...)
				from = "ids"
				check("function", func(f ddl.Field) string {
					if hasFunction(c.layout, f) {
						return "snowflake_" + string(f) + "(id)"
					}
					return ok(config.Expression(f, "id"))(t)
				})
				if n := one[sqlNull](t, s, "SELECT snowflake_worker_id(NULL)"); n.Valid {
					t.Errorf("of NULL: %v", n)
				}
				s.Run(t, ok(config.DropFunctions())(t)...)
			})
		}
	})
}

// The query that replaces the functions in SQLite runs.
func TestSQLiteQuery(t *testing.T) {
	s := engines.SQLite(t)
	query := ok(ddl.Config{Dialect: ddl.SQLite}.Functions())(t)
	got := s.Lines(t, query[0], int64(1541815603606036480))
	if want := "2022-06-28T16:07:40.105Z 378 0 11 26"; len(got) != 1 || got[0] != want {
		t.Errorf("%q, want %q", got, want)
	}
}
