package ddl

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/internal/integration/engines"
)

var november = time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)

// full is the quoted name of the table.
func full(s *server, p ddl.Partitioning) string {
	if p.Schema == "" {
		return quoted(s, p.Table)
	}
	return quoted(s, p.Schema) + "." + quoted(s, p.Table)
}

// table is a table whose rows a careless split would lose or change: it has a
// generated column, and in PostgreSQL an identity, a check, a foreign key and partitions whose
// columns have another order.
func table(t *testing.T, s *server, p ddl.Partitioning, parts []ddl.Partition) {
	t.Helper()
	columns := "id bigint NOT NULL, " + ok(ddl.Config{Dialect: s.Dialect, Layout: p.Layout}.GeneratedColumn("worker's", ddl.WorkerID, "id"))(t) + ", a varchar(20), b varchar(20)"
	if s.Dialect == ddl.MySQL {
		s.Run(t, "CREATE TABLE "+full(s, p)+" ("+columns+", PRIMARY KEY (id)) "+ok(p.Clause(parts))(t))
		return
	}
	s.Run(t, "CREATE TABLE kinds (kind bigint PRIMARY KEY)", "INSERT INTO kinds VALUES (7)",
		"CREATE TABLE "+full(s, p)+" ("+columns+", gone int, \"The kind\" bigint DEFAULT 7 REFERENCES kinds, no bigint GENERATED ALWAYS AS IDENTITY, PRIMARY KEY (id)) "+ok(p.Clause(nil))(t),
		"ALTER TABLE "+full(s, p)+" DROP COLUMN gone, ADD CONSTRAINT short CHECK (length(a) < 10)", "CREATE INDEX ON "+full(s, p)+" (a, b)",
		"CREATE FUNCTION stamp() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.b = now()::text; RETURN NEW; END'")
	for _, part := range parts {
		create, bound, _ := strings.Cut(ok(p.Create([]ddl.Partition{part}))(t)[0], " PARTITION OF "+full(s, p))
		s.Run(t, create+" (b varchar(20), a varchar(20) CONSTRAINT short CHECK (length(a) < 10), no bigint NOT NULL, \"The kind\" bigint, "+columns[:strings.LastIndex(columns, ", a")]+")",
			"ALTER TABLE "+full(s, p)+" ATTACH PARTITION "+strings.TrimPrefix(create, "CREATE TABLE ")+bound)
	}
}

// insert writes rows whose columns say which row it is.
func insert(t *testing.T, s *server, p ddl.Partitioning, ids ...int64) {
	t.Helper()
	rows := make([]string, len(ids))
	for i, id := range ids {
		rows[i] = fmt.Sprintf("(%d, 'a%d', 'b%d')", id, id%1000, id%1000)
	}
	s.Run(t, "INSERT INTO "+full(s, p)+" (id, a, b) VALUES "+strings.Join(rows, ", "))
}

// content returns all rows, in order.
func content(t *testing.T, s *server, p ddl.Partitioning) []string {
	t.Helper()
	columns := "id, a, b, " + quoted(s, "worker's")
	if s.Dialect == ddl.Postgres {
		columns += `, no, "The kind"`
	}
	return s.Lines(t, "SELECT "+columns+" FROM "+full(s, p)+" ORDER BY id")
}

// extend executes the script. It checks that the rows are the same, that each is in the
// partition that Read returns for it, and that no partition is missing.
func extend(t *testing.T, s *server, p ddl.Partitioning, from, to time.Time) []ddl.Partition {
	t.Helper()
	before := content(t, s, p)
	have := ok(p.Read(t.Context(), s))(t)
	s.Run(t, ok(p.Extend(have, from, to))(t)...)
	if after := content(t, s, p); !slices.Equal(after, before) {
		t.Errorf("the rows were\n%s\nand are\n%s", strings.Join(before, "\n"), strings.Join(after, "\n"))
	}
	have = ok(p.Read(t.Context(), s))(t)
	if again, err := p.Extend(have, from, to); err != nil || len(again) != 0 {
		t.Errorf("a second time: %q, %v", again, err)
	}
	for _, part := range have {
		var n int
		var low, high *int64
		from := full(s, p) + " PARTITION (" + quoted(s, part.Name) + ")"
		if s.Dialect == ddl.Postgres {
			own := p
			own.Table, own.Schema = part.Name, cmp.Or(part.Schema, p.Schema)
			from = full(s, own)
		}
		engines.Must(t, s.QueryRow("SELECT count(*), min(id), max(id) FROM "+from).Scan(&n, &low, &high))
		if n > 0 && !part.Default && (*low < part.Min || *high >= part.Max && part.Max < math.MaxInt64) {
			t.Errorf("%+v has ids from %d to %d", part, *low, *high)
		}
	}
	return have
}

// names are the partitions' names, without that of the table, and with a schema of their own.
func names(p ddl.Partitioning, parts []ddl.Partition) string {
	all := make([]string, len(parts))
	for i, part := range parts {
		all[i] = strings.TrimPrefix(part.Schema+".", ".") + strings.TrimPrefix(part.Name, p.Table+"_")
	}
	return strings.Join(all, " ")
}

func first(t *testing.T, at time.Time) int64 { return ok(core.Twitter().FirstAt(at))(t) }

// Tables with open and default partitions get the missing ones, with any rows, and again each month.
// Then the old partitions can be dropped. Names and schemas are hostile.
func TestExtend(t *testing.T) {
	begin, next := first(t, time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)), first(t, time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC))
	half, ago := first(t, november.AddDate(0, 0, -3)), first(t, november.AddDate(-2, 0, 0))
	low := func(to int64) ddl.Partition { return ddl.Partition{Name: "low", Min: math.MinInt64, Max: to} }
	type span struct {
		from, to int // months
		want     string
	}
	for _, c := range []struct {
		name    string
		have    []ddl.Partition // the last has no end
		spans   []span
		only    ddl.Dialect
		schemas bool // the table is in its own schema, and what is split elsewhere
	}{
		{name: "each month", have: []ddl.Partition{low(begin), {Name: "pmax", Min: begin}}, spans: []span{
			{0, 3, "low p202611 p202612 p202701 p202702 pmax"},
			{1, 4, "low p202611 p202612 p202701 p202702 p202703 pmax"},
			{7, 8, "low p202611 p202612 p202701 p202702 p202703 p202706 p202707 pmax"},
		}},
		{name: "only one", have: []ddl.Partition{{Name: "pmax", Min: math.MinInt64}}, spans: []span{{0, 1, "p202611 p202612 pmax"}}},
		{name: "from 0 on", have: []ddl.Partition{low(0), {Name: "rest", Min: 0}}, spans: []span{{0, 1, "low p202611 p202612 rest"}}},
		{name: "in a period", have: []ddl.Partition{low(half), {Name: "PMAX", Min: half}}, spans: []span{{0, 1, "low p202611 p202612 PMAX"}}},
		{name: "named as a period", have: []ddl.Partition{low(half), {Name: "p202611", Min: half}}, spans: []span{{0, 1, "low p202611 p202612 pmax"}}},
		{name: "named as the next", have: []ddl.Partition{low(half), {Name: "p202612", Min: half}}, spans: []span{{0, 1, "low p202611 p202612 pmax"}}},
		{name: "from long ago", have: []ddl.Partition{low(ago), {Name: "last one", Min: ago}}, spans: []span{{0, 1, "low p202611 p202612 last one"}}},
		{name: "from its beginning", have: []ddl.Partition{low(next), {Name: "pmax", Min: next}}, spans: []span{{1, 3, "low p202612 p202701 p202702 pmax"}}},
		{name: "a default", have: []ddl.Partition{{Name: "p202611", Min: begin, Max: next}, {Name: "The rest.", Default: true}}, spans: []span{{0, 3, "p202611 p202612 p202701 p202702 The rest."}}, only: ddl.Postgres},
		{name: "in schemas", have: []ddl.Partition{low(begin), {Name: "pmax", Min: begin, Schema: "public"}}, spans: []span{{0, 1, "low public.p202611 p202612 public.pmax"}}, only: ddl.Postgres, schemas: true},
		{name: "in a database", have: []ddl.Partition{low(begin), {Name: "pmax", Min: begin}}, spans: []span{{0, 1, "low p202611 p202612 pmax"}}, only: ddl.MySQL, schemas: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			onServers(t, func(t *testing.T, s *server) {
				if c.only != "" && c.only != s.Dialect {
					return
				}
				p := ddl.Partitioning{Dialect: s.Dialect, Table: `A "b" %s it's $split$.` + "`\\", By: ddl.Month}
				if c.schemas {
					p.Schema = fmt.Sprint(rand.Uint64()) + `. "x"` + "`'\\"
					kind := map[ddl.Dialect]string{ddl.Postgres: "SCHEMA ", ddl.MySQL: "DATABASE "}[s.Dialect]
					s.Run(t, "CREATE "+kind+quoted(s, p.Schema))
					if s.Dialect == ddl.MySQL {
						t.Cleanup(func() { s.Run(t, "DROP "+kind+quoted(s, p.Schema)) })
					}
				}
				have := slices.Clone(c.have)
				if last := &have[len(have)-1]; !last.Default {
					last.Max = math.MaxInt64
				}
				for i := range have {
					if s.Dialect == ddl.Postgres && strings.HasPrefix(have[i].Name, "p20") {
						have[i].Name = p.Table + "_" + have[i].Name
					}
				}
				table(t, s, p, have)
				parts, err := p.Bounds(november, november.AddDate(0, 8, 0))
				if err != nil || len(parts) != 9 {
					t.Fatal(parts, err)
				}
				ids := []int64{-7, 5, ago - 1, ago, half - 1, half, math.MaxInt64}
				for _, part := range parts {
					ids = append(ids, part.Min, part.Min+1<<22, part.Max-1)
				}
				insert(t, s, p, ids...)
				if s.Dialect == ddl.Postgres {
					s.Run(t, "CREATE TRIGGER stamp BEFORE INSERT ON "+full(s, p)+" FOR EACH ROW EXECUTE FUNCTION stamp()")
				}
				if c.schemas && s.Dialect == ddl.Postgres { // which is no partition
					s.Run(t, "CREATE TABLE "+quoted(s, p.Schema)+".pmax (id bigint)")
				}
				for _, one := range c.spans {
					have = extend(t, s, p, november.AddDate(0, one.from, 0), november.AddDate(0, one.to, 0))
					if got := names(p, have); got != one.want {
						t.Errorf("split into %s, want %s", got, one.want)
					}
				}
				old, err := p.Before(have, parts[1].From)
				if err != nil || len(old) == 0 {
					t.Fatalf("old: %v, %v", old, err)
				}
				s.Run(t, ok(p.Drop(old))(t)...)
				left := slices.DeleteFunc(ids, func(id int64) bool {
					return slices.ContainsFunc(old, func(part ddl.Partition) bool { return part.Min <= id && id < part.Max })
				})
				if n := len(content(t, s, p)); n != len(left) {
					t.Errorf("%d rows are left of %d", n, len(left))
				}
				if c.schemas && s.Dialect == ddl.Postgres {
					s.Run(t, ok(p.Detach(have[len(have)-1:]))(t)...)
					s.Run(t, "SELECT * FROM public.pmax")
				}
			})
		})
	}
}
