package ddl

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/ddl"
)

var november = time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)

// table is a table whose rows a careless split would lose or change: it has a
// generated column, and in PostgreSQL an identity, a check, a foreign key and partitions whose
// columns have another order.
func table(t *testing.T, s *server, p ddl.Partitioning, parts []ddl.Partition) {
	t.Helper()
	columns := "id bigint NOT NULL, " + text(t)(ddl.Config{Dialect: s.dialect, Layout: p.Layout}.GeneratedColumn("worker's", ddl.Worker, "id")) + ", a varchar(20), b varchar(20)"
	if s.dialect == ddl.MySQL {
		s.run(t, "CREATE TABLE "+quoted(s, p.Table)+" ("+columns+", PRIMARY KEY (id)) "+text(t)(p.Clause(parts)))
		return
	}
	s.run(t, "CREATE TABLE kinds (kind bigint PRIMARY KEY)", "INSERT INTO kinds VALUES (7)",
		"CREATE TABLE "+quoted(s, p.Table)+" ("+columns+", gone int, \"The kind\" bigint DEFAULT 7 REFERENCES kinds, no bigint GENERATED ALWAYS AS IDENTITY, PRIMARY KEY (id)) "+text(t)(p.Clause(nil)),
		"ALTER TABLE "+quoted(s, p.Table)+" DROP COLUMN gone, ADD CONSTRAINT short CHECK (length(a) < 10)", "CREATE INDEX ON "+quoted(s, p.Table)+" (a, b)",
		"CREATE FUNCTION stamp() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.b = now()::text; RETURN NEW; END'")
	for _, part := range parts {
		s.run(t, "CREATE TABLE "+quoted(s, part.Name)+" (b varchar(20), a varchar(20) CONSTRAINT short CHECK (length(a) < 10), no bigint NOT NULL, \"The kind\" bigint, "+columns[:strings.LastIndex(columns, ", a")]+")")
		bound, err := p.Create([]ddl.Partition{part})
		if err != nil {
			t.Fatal(err)
		}
		_, bound[0], _ = strings.Cut(bound[0], " PARTITION OF "+quoted(s, p.Table))
		s.run(t, "ALTER TABLE "+quoted(s, p.Table)+" ATTACH PARTITION "+quoted(s, part.Name)+bound[0])
	}
}

// stamped enables the trigger.
func stamped(t *testing.T, s *server, p ddl.Partitioning) {
	t.Helper()
	if s.dialect == ddl.Postgres {
		s.run(t, "CREATE TRIGGER stamp BEFORE INSERT ON "+quoted(s, p.Table)+" FOR EACH ROW EXECUTE FUNCTION stamp()")
	}
}

// insert writes rows whose columns say which row it is.
func insert(t *testing.T, s *server, p ddl.Partitioning, ids ...int64) {
	t.Helper()
	rows := make([]string, len(ids))
	for i, id := range ids {
		rows[i] = fmt.Sprintf("(%d, 'a%d', 'b%d')", id, id%1000, id%1000)
	}
	s.run(t, "INSERT INTO "+quoted(s, p.Table)+" (id, a, b) VALUES "+strings.Join(rows, ", "))
}

// content returns all rows, in order.
func content(t *testing.T, s *server, p ddl.Partitioning) []string {
	t.Helper()
	columns := "id, a, b, " + quoted(s, "worker's")
	if s.dialect == ddl.Postgres {
		columns += `, no, "The kind"`
	}
	return lines(t, s, "SELECT "+columns+" FROM "+quoted(s, p.Table)+" ORDER BY id")
}

// extend executes the script. It checks that the rows are the same, that each is in the
// partition that Read returns for it, and that no partition is missing.
func extend(t *testing.T, s *server, p ddl.Partitioning, from, to time.Time) []ddl.Partition {
	t.Helper()
	before := content(t, s, p)
	have, err := p.Read(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	s.run(t, script(t)(p.Extend(have, from, to))...)
	if after := content(t, s, p); !slices.Equal(after, before) {
		t.Errorf("the rows were\n%s\nand are\n%s", strings.Join(before, "\n"), strings.Join(after, "\n"))
	}
	if have, err = p.Read(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if again, err := p.Extend(have, from, to); err != nil || len(again) != 0 {
		t.Errorf("a second time: %q, %v", again, err)
	}
	if missing, err := p.Missing(have, from, to); err != nil || len(missing) != 0 {
		t.Errorf("missing: %v, %v", missing, err)
	}
	for _, part := range have {
		var n int
		var low, high *int64
		from := quoted(s, part.Name)
		if s.dialect == ddl.MySQL {
			from = quoted(s, p.Table) + " PARTITION (" + from + ")"
		}
		if err := s.QueryRow("SELECT count(*), min(id), max(id) FROM "+from).Scan(&n, &low, &high); err != nil {
			t.Fatal(err)
		}
		if n > 0 && !part.Default && (*low < part.Min || *high >= part.Max && part.Max < math.MaxInt64) {
			t.Errorf("%+v has ids from %d to %d", part, *low, *high)
		}
	}
	return have
}

// names are the partitions' names, without that of the table.
func names(p ddl.Partitioning, parts []ddl.Partition) string {
	all := make([]string, len(parts))
	for i, part := range parts {
		all[i] = strings.TrimPrefix(part.Name, p.Table+"_")
	}
	return strings.Join(all, " ")
}

// A last partition without an end is split, with any rows, and again each month. Then
// the old partitions can be dropped.
func TestSplitTheOpenEnd(t *testing.T) {
	for _, name := range []string{"orders", `A "b" %s it's $split$.` + "`\\"} {
		t.Run(name, func(t *testing.T) {
			onServers(t, func(t *testing.T, s *server) {
				p := ddl.Partitioning{Dialect: s.dialect, Table: name, By: ddl.Month}
				parts, err := p.Bounds(november, november.AddDate(0, 8, 0))
				if err != nil || len(parts) != 9 {
					t.Fatal(parts, err)
				}
				open := ddl.Partition{Name: "pmax", Min: parts[0].Min, Max: math.MaxInt64}
				if s.dialect == ddl.Postgres {
					open.Name = name + "_pmax"
				}
				table(t, s, p, []ddl.Partition{{Name: "low", Min: math.MinInt64, Max: open.Min}, open})
				insert(t, s, p, -7, open.Min-1, math.MaxInt64)
				for _, part := range parts {
					insert(t, s, p, part.Min, part.Min+1<<22, part.Max-1)
				}
				stamped(t, s, p)

				have, err := p.Read(t.Context(), s)
				if err != nil {
					t.Fatal(err)
				}
				if missing, err := p.Missing(have, november, november.AddDate(0, 3, 0)); err == nil || !strings.Contains(err.Error(), "pmax takes all ids from") {
					t.Fatalf("missing %v, %v", missing, err)
				}
				have = extend(t, s, p, november, november.AddDate(0, 3, 0))
				if got := names(p, have); got != "low p202611 p202612 p202701 p202702 pmax" {
					t.Errorf("split into %s", got)
				}
				// A month later, and then after a pause of three.
				if got := names(p, extend(t, s, p, november.AddDate(0, 1, 0), november.AddDate(0, 4, 0))); got != "low p202611 p202612 p202701 p202702 p202703 pmax" {
					t.Errorf("split into %s", got)
				}
				have = extend(t, s, p, november.AddDate(0, 7, 0), november.AddDate(0, 8, 0))
				if got := names(p, have); got != "low p202611 p202612 p202701 p202702 p202703 p202706 p202707 pmax" {
					t.Errorf("split into %s", got)
				}
				old, err := p.Before(have, parts[2].From)
				if err != nil || names(p, old) != "low p202611 p202612" {
					t.Fatalf("old: %v, %v", old, err)
				}
				s.run(t, script(t)(p.Drop(old))...)
				if n := len(content(t, s, p)); n != 7*3+1 {
					t.Errorf("%d rows are left", n)
				}
			})
		})
	}
}

// Open partitions of other programs: the only partition, one that begins within a
// period, one with the name of a period, and one that begins long ago.
func TestSplitWhatOthersMade(t *testing.T) {
	first := func(at time.Time) int64 {
		id, err := core.Twitter().FirstAt(at)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	half, ago := first(november.AddDate(0, 0, -3)), first(november.AddDate(-2, 0, 0))
	for _, c := range []struct {
		name string
		have []ddl.Partition
		want string
	}{
		{"only one", []ddl.Partition{{Name: "pmax", Min: math.MinInt64}}, "p202611 p202612 pmax"},
		{"from 0 on", []ddl.Partition{{Name: "low", Min: math.MinInt64, Max: 0}, {Name: "rest", Min: 0}}, "low p202611 p202612 rest"},
		{"in a period", []ddl.Partition{{Name: "low", Min: math.MinInt64, Max: half}, {Name: "PMAX", Min: half}}, "low p202611 p202612 PMAX"},
		{"named as a period", []ddl.Partition{{Name: "low", Min: math.MinInt64, Max: half}, {Name: "p202611", Min: half}}, "low p202611 p202612 pmax"},
		{"named as the next", []ddl.Partition{{Name: "low", Min: math.MinInt64, Max: half}, {Name: "p202612", Min: half}}, "low p202611 p202612 pmax"},
		{"from long ago", []ddl.Partition{{Name: "low", Min: math.MinInt64, Max: ago}, {Name: "last one", Min: ago}}, "low p202611 p202612 last one"},
	} {
		t.Run(c.name, func(t *testing.T) {
			onServers(t, func(t *testing.T, s *server) {
				p := ddl.Partitioning{Dialect: s.dialect, Table: "Orders", By: ddl.Month}
				parts := slices.Clone(c.have)
				parts[len(parts)-1].Max = math.MaxInt64
				for i := range parts {
					if s.dialect == ddl.Postgres && strings.HasPrefix(parts[i].Name, "p20") {
						parts[i].Name = "Orders_" + parts[i].Name
					}
				}
				table(t, s, p, parts)
				insert(t, s, p, ago-1, ago, half-1, half, first(november), first(november.AddDate(0, 1, 0)), first(november.AddDate(0, 3, 0)), math.MaxInt64)
				stamped(t, s, p)
				if got := names(p, extend(t, s, p, november, november.AddDate(0, 1, 0))); got != c.want {
					t.Errorf("split into %s, want %s", got, c.want)
				}
			})
		})
	}
}

// Each period of the open end has a partition of its own if from is its beginning.
func TestSplitFromItsBeginning(t *testing.T) {
	onServers(t, func(t *testing.T, s *server) {
		p := ddl.Partitioning{Dialect: s.dialect, Table: "orders", By: ddl.Month}
		parts, err := p.Bounds(november.AddDate(0, -3, 0), november)
		if err != nil {
			t.Fatal(err)
		}
		table(t, s, p, []ddl.Partition{{Name: "low", Min: math.MinInt64, Max: parts[0].Min}, {Name: "pmax", Min: parts[0].Min, Max: math.MaxInt64}})
		for _, part := range parts {
			insert(t, s, p, part.Min, part.Max-1)
		}
		have, err := p.Read(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		if got := names(p, extend(t, s, p, have[1].From, november)); got != "low p202608 p202609 p202610 p202611 pmax" {
			t.Errorf("split into %s", got)
		}
	})
}

// PostgreSQL refuses a partition whose rows are in the default one. Extend moves them.
func TestExtendOverADefault(t *testing.T) {
	for _, name := range []string{"orders", `A "b" %s it's $split$.` + "`\\"} {
		t.Run(name, func(t *testing.T) {
			s := openPostgres(t)
			p := ddl.Partitioning{Dialect: s.dialect, Table: name, By: ddl.Month}
			parts, err := p.Bounds(november, november.AddDate(0, 3, 0))
			if err != nil {
				t.Fatal(err)
			}
			rest := ddl.Partition{Name: "The rest.", Default: true}
			table(t, s, p, []ddl.Partition{parts[0], rest})
			insert(t, s, p, -7, 5, parts[0].Min, parts[1].Min, parts[1].Max-1, parts[2].Min, parts[3].Max-1, parts[3].Max, math.MaxInt64)
			stamped(t, s, p)
			have, err := p.Read(t.Context(), s)
			if err != nil || len(have) != 2 || have[1].Name != rest.Name || !have[1].Default {
				t.Fatalf("read %+v, %v", have, err)
			}
			missing, err := p.Missing(have, november, november.AddDate(0, 3, 0))
			if err != nil || len(missing) != 3 {
				t.Fatalf("missing %+v, %v", missing, err)
			}
			if err := exec(s, script(t)(p.Create(missing))); err == nil {
				t.Fatal("PostgreSQL takes a partition whose rows are in the default one")
			}
			have = extend(t, s, p, november, november.AddDate(0, 3, 0))
			if got := names(p, have); got != "p202611 p202612 p202701 p202702 The rest." {
				t.Errorf("partitions %s", got)
			}
			if got := holds(t, s, p.Table, rest.Name); got != fmt.Sprint("4 -7 ", int64(math.MaxInt64)) {
				t.Errorf("the default partition holds %s", got)
			}
			if old, err := p.Before(have, november.AddDate(50, 0, 0)); err != nil || len(old) != 4 {
				t.Errorf("old %+v, %v", old, err)
			}
		})
	}
}

// The table is in a schema that has to be quoted and is not the session's, and so is
// in PostgreSQL, elsewhere, the partition that is split. What is made is in the table's.
func TestSplitInAnotherSchema(t *testing.T) {
	onServers(t, func(t *testing.T, s *server) {
		name := freshName() + `. "x"` + "`'\\"
		kind, cascade := "SCHEMA", " CASCADE"
		if s.dialect == ddl.MySQL {
			kind, cascade = "DATABASE", ""
		}
		p := ddl.Partitioning{Dialect: s.dialect, Schema: name, Table: `Orders"`, By: ddl.Month}
		parts, err := p.Bounds(november, november.AddDate(0, 1, 0))
		if err != nil {
			t.Fatal(err)
		}
		s.run(t, "CREATE "+kind+" "+quoted(s, name))
		t.Cleanup(func() { s.run(t, "DROP "+kind+" "+quoted(s, name)+cascade) })
		open := ddl.Partition{Name: "pmax", Min: parts[0].Min, Max: math.MaxInt64}
		elsewhere := ""
		if s.dialect == ddl.Postgres {
			elsewhere = one[string](t, s, "SELECT current_schema")
			open.Schema = elsewhere
		}
		first := []ddl.Partition{{Name: "low", Min: math.MinInt64, Max: open.Min}, open}
		full := quoted(s, name) + "." + quoted(s, p.Table)
		s.run(t, "CREATE TABLE "+full+" (id bigint PRIMARY KEY) "+text(t)(p.Clause(first)))
		if s.dialect == ddl.Postgres {
			s.run(t, script(t)(p.Create(append(first, ddl.Partition{Name: "Rest", Default: true})))...)
		}
		s.run(t, fmt.Sprintf("INSERT INTO %s VALUES (5), (%d), (%d)", full, parts[0].Min, parts[1].Min))
		have, err := p.Read(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		s.run(t, script(t)(p.Extend(have, november, november.AddDate(0, 1, 0)))...)
		if have, err = p.Read(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, part := range have {
			got = append(got, part.Name+" in "+part.Schema)
		}
		want := []string{"low in ", "p202611 in ", "p202612 in ", "pmax in "}
		if s.dialect == ddl.Postgres {
			want = []string{"low in ", `Orders"_p202611 in ` + elsewhere, `Orders"_p202612 in `, "pmax in " + elsewhere, "Rest in "}
		}
		if !slices.Equal(got, want) {
			t.Errorf("partitions %q, want %q", got, want)
		}
		if n := one[int](t, s, "SELECT count(*) FROM "+full); n != 3 {
			t.Errorf("%d rows", n)
		}
	})
}
