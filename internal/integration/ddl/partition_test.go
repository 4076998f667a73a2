package ddl

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/ddl"
)

// holds counts the rows of a partition and gives its least and its greatest id.
func holds(t *testing.T, s *server, table, part string) string {
	t.Helper()
	from := quoted(s, part)
	if s.Dialect == ddl.MySQL {
		from = quoted(s, table) + " PARTITION (" + quoted(s, part) + ")"
	}
	return s.Lines(t, "SELECT count(*), min(id), max(id) FROM "+from)[0]
}

func quoted(s *server, name string) string {
	if s.Dialect == ddl.Postgres {
		return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
	}
	return "`" + strings.ReplaceAll(name, "`", "``") + "`"
}

// The life of a partitioned table: made, filled, read back, continued, and its
// old part dropped or detached. Each id lies where Decode says, in each period
// and in places whose days begin with a leap of the clocks.
func TestPartitionsLive(t *testing.T) {
	from := time.Date(2018, 10, 20, 15, 4, 5, 0, time.UTC)
	for _, c := range []struct {
		name string
		p    ddl.Partitioning
	}{
		{"days", ddl.Partitioning{By: ddl.Day}},
		{"weeks", ddl.Partitioning{By: ddl.Week, Column: "id", Layout: core.Sonyflake()}},
		{"months", ddl.Partitioning{By: ddl.Month, Layout: core.Layout{Epoch: from.AddDate(0, 0, -3), TimeBits: 41, SequenceBits: 22}}},
		{"days in São Paulo", ddl.Partitioning{By: ddl.Day, Location: ok(time.LoadLocation("America/Sao_Paulo"))(t)}}, // without midnight on November 4th
		{"hour ticks in Kathmandu", ddl.Partitioning{By: ddl.Day, Location: ok(time.LoadLocation("Asia/Kathmandu"))(t), Layout: core.Layout{Tick: time.Hour, TimeBits: 20, SequenceBits: 20}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			onServers(t, func(t *testing.T, s *server) {
				p := c.p
				p.Dialect, p.Table = s.Dialect, `a "table" it's `+"\\`"
				if p.Location == nil {
					p.Location = time.UTC
				}
				parts := ok(p.Bounds(from, from.AddDate(0, 0, 17)))(t)
				// Other tables have nothing to do with it.
				s.Run(t, "CREATE TABLE other (id bigint PRIMARY KEY)", "INSERT INTO other VALUES (1)")
				create := "CREATE TABLE " + quoted(s, p.Table) + " (id bigint PRIMARY KEY, note text) " + ok(p.Clause(parts[:1]))(t)
				s.Run(t, create)
				if s.Dialect == ddl.Postgres {
					s.Run(t, ok(p.Create(parts[:1]))(t)...)
				}

				last, to := parts[len(parts)-1], from.AddDate(0, 0, 17)
				continued := func(from time.Time) (have []ddl.Partition, statements ddl.Script) {
					t.Helper()
					have = ok(p.Read(t.Context(), s))(t)
					return have, ok(p.Extend(have, from, to))(t)
				}
				have, add := continued(last.From) // with a hole before it for MySQL to fill
				if len(have) != 1 || have[0].Name != parts[0].Name || have[0].Max != parts[0].Max || !have[0].To.Equal(timeOf(p, parts[0].Max)) {
					t.Fatalf("read %+v", have)
				}
				s.Run(t, add...)
				_, add = continued(from)
				s.Run(t, add...)
				if have, add = continued(from); len(have) != len(parts) || len(add) != 0 {
					t.Fatalf("%d partitions, want %d, and %q", len(have), len(parts), add)
				}
				for i := range parts {
					least := max(parts[i].Min, 1)
					if i == 0 && s.Dialect == ddl.MySQL {
						least = math.MinInt64
					}
					if have[i].Name != parts[i].Name || have[i].Min != least || have[i].Max != parts[i].Max {
						t.Errorf("read %+v, want %+v", have[i], parts[i])
					}
				}

				// Ids at the ends of each partition and anywhere within.
				want := map[string]string{}
				var rows []string
				for _, part := range parts {
					low, high := max(part.Min, 1), part.Max-1
					want[part.Name] = fmt.Sprint(102, " ", low, " ", high)
					ids := map[int64]bool{low: true, high: true}
					for len(ids) < 102 {
						ids[low+1+rand.Int64N(high-low-1)] = true
					}
					for id := range ids {
						rows = append(rows, fmt.Sprintf("(%d, 'x')", id))
						at := timeOf(p, id)
						if at.Before(part.From) && part.Min > 0 || !at.Before(part.To) {
							t.Fatalf("%d of %v is in %+v", id, at, part)
						}
					}
				}
				s.Run(t, "INSERT INTO "+quoted(s, p.Table)+" VALUES "+strings.Join(rows, ","))
				for _, part := range parts {
					if got := holds(t, s, p.Table, part.Name); got != want[part.Name] {
						t.Errorf("%s holds %s, want %s", part.Name, got, want[part.Name])
					}
				}
				if err := s.Try("INSERT INTO " + quoted(s, p.Table) + fmt.Sprintf(" VALUES (%d, 'x')", last.Max)); err == nil {
					t.Error("an id of no partition was taken")
				}

				// The oldest is dropped, the next one detached.
				old, err := p.Before(have, parts[1].From)
				if err != nil || len(old) != 1 || old[0].Name != parts[0].Name {
					t.Fatalf("before %v: %+v, %v", parts[1].From, old, err)
				}
				s.Run(t, ok(p.Drop(old))(t)...)
				if len(parts) < 3 {
					return
				}
				s.Run(t, ok(p.Detach(parts[1:2]))(t)...)
				if have, err = p.Read(t.Context(), s); err != nil || len(have) != len(parts)-2 || have[0].Name != parts[2].Name {
					t.Errorf("after that: %+v, %v", have, err)
				}
				own := parts[1].Name
				if s.Dialect == ddl.MySQL {
					own = p.Table + "_" + own
				}
				if got := s.Lines(t, "SELECT count(*), min(id), max(id) FROM "+quoted(s, own))[0]; got != want[parts[1].Name] {
					t.Errorf("detached: %s, want %s", got, want[parts[1].Name])
				}
				if n := one[int](t, s, "SELECT count(*) FROM "+quoted(s, p.Table)); n != 102*(len(parts)-2) {
					t.Errorf("%d rows are left", n)
				}
				if err := s.Try(ok(p.Drop([]ddl.Partition{{Name: "other"}}))(t)...); err == nil {
					t.Error("a table that is no partition was dropped")
				}
				if n := one[int](t, s, "SELECT count(*) FROM other"); n != 1 {
					t.Error("the other table is gone")
				}
			})
		})
	}
}

func timeOf(p ddl.Partitioning, id int64) time.Time {
	parts, err := p.Layout.Decode(id)
	if err != nil {
		panic(err)
	}
	return parts.Time
}

// Partitions not made here are read as they are, and one that fits no period is
// an error rather than a partition twice.
func TestPartitionsOfOthers(t *testing.T) {
	onServers(t, func(t *testing.T, s *server) {
		p := ddl.Partitioning{Dialect: s.Dialect, Table: "orders", By: ddl.Month}
		if have, err := p.Read(t.Context(), s); err != nil || len(have) != 0 {
			t.Errorf("of no table: %+v, %v", have, err)
		}
		s.Run(t, "CREATE TABLE orders (id bigint PRIMARY KEY)")
		if have, err := p.Read(t.Context(), s); err != nil || len(have) != 0 {
			t.Errorf("of a plain table: %+v, %v", have, err)
		}
		s.Run(t, "DROP TABLE orders")
		middle := ok(core.Twitter().FirstAt(time.Date(2026, 11, 16, 0, 0, 0, 0, time.UTC)))(t)
		if s.Dialect == ddl.Postgres {
			s.Run(t, "CREATE TABLE orders (id bigint PRIMARY KEY) PARTITION BY RANGE (id)",
				"CREATE TABLE low PARTITION OF orders FOR VALUES FROM (MINVALUE) TO (-5)",
				fmt.Sprintf("CREATE TABLE half PARTITION OF orders FOR VALUES FROM (-5) TO (%d)", middle),
				"CREATE TABLE high PARTITION OF orders FOR VALUES FROM (9000000000000000000) TO (MAXVALUE)",
				"CREATE TABLE rest PARTITION OF orders DEFAULT")
		} else {
			s.Run(t, fmt.Sprintf("CREATE TABLE orders (id bigint PRIMARY KEY) PARTITION BY RANGE (id) (PARTITION low VALUES LESS THAN (-5), PARTITION half VALUES LESS THAN (%d))", middle))
		}
		have, err := p.Read(t.Context(), s)
		at := time.Date(2026, 11, 16, 0, 0, 0, 0, time.UTC)
		want := []ddl.Partition{{Name: "low", Min: math.MinInt64, Max: -5}, {Name: "half", Min: -5, Max: middle, To: at},
			{Name: "high", Min: 9000000000000000000, Max: math.MaxInt64, From: timeOf(p, 9000000000000000000)},
			{Name: "rest", Min: math.MinInt64, Max: math.MaxInt64, Default: true}}
		if s.Dialect == ddl.MySQL {
			want = want[:2]
		}
		if err != nil || !reflect.DeepEqual(have, want) {
			t.Errorf("read %+v, %v, want %+v", have, err, want)
		}
		if script, err := p.Extend(have, at.AddDate(0, 0, 1), at.AddDate(0, 1, 0)); err == nil || !strings.Contains(err.Error(), "reaches into half") {
			t.Errorf("%s, %v", script, err)
		}
		p.By = ddl.Week // which does begin there, on a Monday
		to := at.AddDate(0, 0, 14)
		s.Run(t, ok(p.Extend(have, at.AddDate(0, 0, 1), to))(t)...)
		have, err = p.Read(t.Context(), s)
		if again, extendErr := p.Extend(have, at, to); err != nil || extendErr != nil || len(again) != 0 || len(have) != len(want)+2 || have[2].Min != middle {
			t.Errorf("read %+v, %v, then %s, %v", have, err, again, extendErr)
		}
	})
}

// The epoch's own period begins with the least id that a domain allows.
func TestFirstPartitionOfADomain(t *testing.T) {
	s := openPostgres(t)
	epoch := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	layout := core.Layout{Epoch: epoch, TimeBits: 41, SequenceBits: 10}
	s.Run(t, ok(ddl.Config{Dialect: s.Dialect, Layout: layout}.Domain())(t)...)
	p := ddl.Partitioning{Dialect: s.Dialect, Layout: layout, Table: "orders", By: ddl.Day}
	parts, err := p.Bounds(epoch, epoch.AddDate(0, 0, 1))
	if err != nil || len(parts) != 2 || parts[0].Min != 0 {
		t.Fatalf("%+v, %v", parts, err)
	}
	s.Run(t, "CREATE TABLE orders (id snowflake_id PRIMARY KEY) "+ok(p.Clause(nil))(t))
	s.Run(t, ok(p.Create(parts))(t)...)
	s.Run(t, "INSERT INTO orders VALUES (1)")
	have, err := p.Read(t.Context(), s)
	if err != nil || len(have) != 2 || have[0].Min != 1 {
		t.Errorf("read %+v, %v", have, err)
	}
	if script, err := p.Extend(have, epoch, epoch.AddDate(0, 0, 1)); err != nil || len(script) != 0 {
		t.Errorf("%s, %v", script, err)
	}
}

// MySQL partitions a table with rows in place. One with subpartitions has each of its partitions once.
func TestSubpartitions(t *testing.T) {
	onServers(t, func(t *testing.T, s *server) {
		if s.Dialect != ddl.MySQL {
			return
		}
		p := ddl.Partitioning{Dialect: s.Dialect, Table: "orders", By: ddl.Day}
		from := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
		parts := ok(p.Bounds(from, from.AddDate(0, 0, 3)))(t)
		s.Run(t, "CREATE TABLE orders (id bigint PRIMARY KEY)", fmt.Sprintf("INSERT INTO orders VALUES (%d), (%d)", parts[0].Max-1, parts[1].Min),
			"ALTER TABLE orders "+strings.Replace(ok(p.Clause(parts[:2]))(t), " (\n", " SUBPARTITION BY HASH (id) SUBPARTITIONS 2 (\n", 1))
		for _, part := range parts[:2] {
			if got := holds(t, s, "orders", part.Name); !strings.HasPrefix(got, "1 ") {
				t.Errorf("%s holds %s", part.Name, got)
			}
		}
		have, err := p.Read(t.Context(), s)
		if err != nil || len(have) != 2 || have[0].Max != parts[0].Max || have[1].Min != parts[1].Min || have[1].Max != parts[1].Max {
			t.Fatalf("read %+v, %v", have, err)
		}
		s.Run(t, ok(p.Extend(have, from, from.AddDate(0, 0, 3)))(t)...)
		old, err := p.Before(have, parts[1].From)
		if err != nil || len(old) != 1 {
			t.Fatalf("old %+v, %v", old, err)
		}
		s.Run(t, ok(p.Drop(old))(t)...)
		if have, err = p.Read(t.Context(), s); err != nil || len(have) != 2 || have[0].Name != parts[1].Name {
			t.Errorf("read %+v, %v", have, err)
		}
	})
}
