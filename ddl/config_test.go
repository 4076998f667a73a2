package ddl

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

func asError[T error](err error, target *T) bool { return errors.As(err, target) }

var (
	monday = time.Date(2026, 11, 16, 0, 0, 0, 0, time.UTC)
	orders = Partitioning{Dialect: Postgres, Table: "orders", By: Day}
)

func only[T any](_ T, err error) error { return err }

// All errors are reported at once, with field and value.
func TestConfigErrors(t *testing.T) {
	long := strings.Repeat("x", 64)
	part := []Partition{{Name: "p", Min: 1, Max: 2}}
	for _, c := range []struct {
		name string
		err  error
		want []string
	}{
		{"nothing", only(Config{}.Functions()), []string{`Dialect ""`}},
		{"functions of no dialect", only(Config{Dialect: "oracle"}.Functions()), []string{`Dialect "oracle"`}},
		{"all", only(Config{Dialect: "x", Layout: core.Layout{Tick: 1, TimeBits: 64}, Schema: "a\x00"}.Functions()),
			[]string{`Dialect "x"`, "Layout.Tick 1ns", "= 64", `Schema "a\x00"`}},
		{"unsigned", only(Config{Dialect: MySQL, Layout: core.Layout{TimeBits: 41, Unsigned: true}}.Domain()), []string{"Layout.Unsigned true"}},
		{"long prefix", only(Config{Dialect: Postgres, Prefix: long[:60]}.Functions()), []string{`Prefix "` + long[:60] + `": with "time" after it has 64 bytes`, "has 69 bytes", "has 68 bytes", "has 70 bytes", "has 67 bytes"}},
		{"long table to require keys of", only(Config{Dialect: MySQL}.RequireKey(long[:60], "id")), []string{`Table "` + long[:60] + `": with "_id_required" after it has 72 characters`}},
		{"drop, long prefix", only(Config{Dialect: MySQL, Prefix: long}.DropFunctions()), []string{"at most 64", "at most 64", "at most 64", "at most 64", "at most 64", "at most 64"}},
		{"expression", only(Config{Dialect: MySQL}.Expression("year", "id", "")), []string{`field "year"`, `column "": must not be empty`}},
		{"no column", only(Config{Dialect: MySQL}.Expression(Time)), []string{`column "[]"`}},
		{"four names", only(Config{Dialect: MySQL}.Min("a", "b", "c", "d")), []string{`column "[\"a\" \"b\" \"c\" \"d\"]"`}},
		{"now", only(Config{}.MinNow(0)), []string{"Dialect"}},
		{"check", only(Config{Dialect: SQLite}.Check("\xff")), []string{`column "\xff": must be UTF-8`}},
		{"generated", only(Config{Dialect: MySQL}.GeneratedColumn("a ", Time, "😀")), []string{`name "a ": ends in a space`, `column "😀": has a character beyond`}},
		{"view", only(Config{Dialect: Postgres}.View("", "", "")), []string{"view", "table", "column"}},
		{"partitions", only(Partitioning{Dialect: Postgres, Column: "\x00"}.Bounds(monday, monday)), []string{`Table ""`, `Column "\x00"`, `By ""`}},
		{"period", only(Partitioning{Dialect: Postgres, Table: "t", By: "year"}.Extend(nil, monday, monday)), []string{`By "year"`}},
		{"backwards", only(orders.Bounds(monday, monday.Add(-1))), []string{`to "2026-11-15T23:59:59.999999999Z": must be after from, 2026-11-16T00:00:00Z`}},
		{"empty", only(orders.Bounds(monday, monday)), []string{"must be after from"}},
		{"too many", only(orders.Bounds(monday, monday.AddDate(30, 0, 0))), []string{"makes more than 8192"}},
		{"none to create", only(orders.Create(nil)), []string{`parts nil: must not be empty`}},
		{"empty one", only(orders.Create([]Partition{{Name: "p", Min: 5, Max: 5}})), []string{"Partition.Max 5: must be above Min, 5"}},
		{"empty without 0", only(orders.Create([]Partition{{Name: "p", Min: 0, Max: 1}})), []string{`Partition.Max 1: must be above Min, 1, in "p"`}},
		{"a name twice", only(orders.Create([]Partition{{Name: "p", Min: 5, Max: 9}, {Name: "p", Min: 9, Max: 12}})), []string{`Partition.Name "p": must be unique`}},
		{"in other letters", only(Partitioning{Dialect: MySQL, Table: "t", By: Day}.Drop([]Partition{{Name: "p"}, {Name: "P"}})), []string{`Partition.Name "P": must be unique`}},
		{"in the table's schema", only(Partitioning{Dialect: Postgres, Schema: "s", Table: "t", By: Day}.Drop([]Partition{{Name: "p"}, {Name: "p", Schema: "s"}})), []string{"must be unique"}},
		{"overlapping", only(orders.Create([]Partition{{Name: "b", Min: 7, Max: 12}, {Name: "a", Min: 5, Max: 9}})), []string{`Partition.Min 7: must not be below 9, the Max of "a", in "b"`}},
		{"its schema", only(Partitioning{Dialect: MySQL, Table: "t", By: Day}.Create([]Partition{{Name: "p", Schema: "s", Min: 5, Max: 6}})), []string{`Partition.Schema "s": must be empty`}},
		{"a bad schema", only(orders.Drop([]Partition{{Name: "p", Schema: "\x00"}})), []string{`Partition.Schema "\x00": must not contain a NUL`}},
		{"its name", only(orders.Create([]Partition{{Name: long, Min: 5, Max: 6}})), []string{"Partition.Name"}},
		{"none to drop", only(orders.Drop(nil)), []string{`parts nil: must not be empty`}},
		{"twice", only(orders.Drop(append(part, part...))), []string{`Partition.Name "p": must be unique`}},
		{"detach to a long name", only(Partitioning{Dialect: MySQL, Table: long, By: Day}.Detach(part)), []string{"has 66 characters"}},
		{"long table", only(Partitioning{Dialect: Postgres, Table: long[:60], By: Day}.Extend(nil, monday, monday.Add(1))), []string{"Partition.Name"}},
		{"an open one without a name", only(Partitioning{Dialect: MySQL, Table: "t", By: Month}.Extend([]Partition{{Max: math.MaxInt64}}, monday, monday.Add(1))), []string{`Partition.Name ""`}},
		{"an open one in a schema", only(Partitioning{Dialect: MySQL, Table: "t", By: Month}.Extend([]Partition{{Name: "r", Schema: "x", Max: math.MaxInt64}}, monday, monday.Add(1))), []string{`Partition.Schema "x"`}},
		{"a default in MySQL", only(Partitioning{Dialect: MySQL, Table: "t", By: Month}.Extend([]Partition{{Name: "r", Default: true}}, monday, monday.Add(1))), []string{"Partition.Default true"}},
		{"a bad default", only(orders.Extend([]Partition{{Name: "a\x00", Default: true}}, monday, monday.Add(1))), []string{`Partition.Name "a\x00"`}},
	} {
		t.Run(c.name, func(t *testing.T) { wrongFields(t, c.err, c.want...) })
	}
	if script, err := (Partitioning{Dialect: Postgres, Table: long[:55], By: Month}).Extend([]Partition{{Name: "pmax", Max: math.MaxInt64}}, monday, monday.Add(1)); err != nil {
		t.Errorf("a table of 55 bytes, and _p202611: %s, %v", script, err)
	}
}

// wrongFields expects an error of exactly these fields.
func wrongFields(t *testing.T, err error, wants ...string) {
	t.Helper()
	var config *core.ConfigError
	if !errors.As(err, &config) || len(config.Fields) != len(wants) {
		t.Fatalf("%v, want %d errors", err, len(wants))
	}
	for i, want := range wants {
		if got := config.Fields[i].String(); !strings.Contains(got, want) {
			t.Errorf("%q does not contain %q", got, want)
		}
	}
	if strings.Count(err.Error(), "ddl: ") != 1 {
		t.Errorf("%q", err)
	}
}

// Each of these is an errors.ErrUnsupported that names the database, or its dialect and what to use.
func TestUnsupported(t *testing.T) {
	lite := Partitioning{Dialect: SQLite, Table: "t", By: Day}
	part := []Partition{{Name: "p", Min: 1, Max: 2}}
	errs := map[string]map[string]error{"SQLite": {
		"bounds": only(lite.Bounds(monday, monday.Add(1))), "clause": only(lite.Clause(part)), "create": only(lite.Create(part)),
		"drop": only(lite.Drop(part)), "detach": only(lite.Detach(part)), "existing": only(lite.Existing()),
		"before": only(lite.Before(nil, monday)), "extend": only(lite.Extend(nil, monday, monday.Add(1))),
		"read": only(lite.Read(t.Context(), nil)), "domain": only(Config{Dialect: SQLite}.Domain()), "dropping": only(Config{Dialect: SQLite}.DropFunctions()),
	}}
	for _, d := range []Dialect{MySQL, SQLite} {
		g, s := Generator{Dialect: d}, Sharding{Dialect: d, Table: "orders", Count: 2, Servers: []string{"a", "b"}}
		errs[string(d)+`": the generator`] = map[string]error{"Create": only(g.Create()), "Drop": only(g.Drop()), "Default": only(g.Default()), "SetDefault": only(g.SetDefault("id", "orders"))}
		errs[string(d)+`": a Sharding`] = map[string]error{"Clause": only(s.Clause()), "Create": only(s.Create()), "Shards": only(s.Shards())}
	}
	for want, of := range errs {
		for name, err := range of {
			t.Run(want+" "+name, func(t *testing.T) {
				if !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), want) {
					t.Error(err)
				}
			})
		}
	}
}

// In MySQL a gap between partitions would fall to the one after it.
func TestGapsAreRefused(t *testing.T) {
	p := Partitioning{Dialect: MySQL, Table: "t", By: Day}
	parts, err := p.Bounds(monday, monday.AddDate(0, 0, 3))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Create([]Partition{parts[0], parts[2]}); err == nil || !strings.Contains(err.Error(), "p20261118 begins with id") {
		t.Errorf("Create: %v", err)
	}
	if _, err := p.Clause([]Partition{parts[1], parts[0]}); err == nil {
		t.Errorf("Clause: %v", err)
	}
	// And one between the last and what is asked for is filled.
	l, err := p.lacking(parts[:1], parts[2].From, parts[2].To)
	if err != nil || fmt.Sprint(l.missing) != fmt.Sprint(parts[1:]) {
		t.Errorf("%+v, %v; want %+v", l.missing, err, parts[1:])
	}
	// What lies before the last cannot be added.
	if l, err := p.lacking([]Partition{{Name: "x", Min: math.MinInt64, Max: parts[2].Max}}, monday, parts[2].To); err != nil || len(l.missing) != 0 {
		t.Errorf("%+v, %v", l.missing, err)
	}
	if l, err := p.lacking(parts[2:], monday, parts[2].To); err != nil || len(l.missing) != 0 {
		t.Errorf("%+v, %v", l.missing, err)
	}
	p.Dialect = Postgres
	if l, err := p.lacking(parts[1:2], monday, parts[2].To); err != nil || len(l.missing) != 2 {
		t.Errorf("PostgreSQL fills on both sides: %+v, %v", l.missing, err)
	}
}

// PostgreSQL 14 reads no number above 2³¹ in an interval.
func TestMinNowForPostgres(t *testing.T) {
	for ago, want := range map[time.Duration]string{
		0:                   "'0:00:00.000000'",
		90 * 24 * time.Hour: "'2160:00:00.000000'",
		-time.Hour - 2*time.Minute - 3*time.Second - 4*time.Microsecond: "'-1:02:03.000004'",
		math.MaxInt64: "'2562047:47:16.854775'",
		math.MinInt64: "'-2562047:47:16.854775'",
	} {
		t.Run(ago.String(), func(t *testing.T) {
			if got, err := (Config{Dialect: Postgres}).MinNow(ago); err != nil || !strings.Contains(got, "(now() - interval "+want+")") {
				t.Errorf("%s, %v; want interval %s", got, err, want)
			}
		})
	}
}

// A year of days is no matter, and every dialect's name is found.
func TestManyAndNames(t *testing.T) {
	if parts, err := orders.Bounds(monday, monday.AddDate(1, 0, 0)); err != nil || len(parts) != 365 {
		t.Errorf("%d, %v", len(parts), err)
	}
	for _, name := range []string{"postgres", "PostgreSQL", "pgx", "mysql", "MariaDB", "sqlite", "SQLite3"} {
		if d, err := ParseDialect(name); err != nil || !strings.Contains(strings.ToLower(d.product()), string(d)) {
			t.Errorf("%s: %q, %v", name, d, err)
		}
	}
}
