package ddl

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/internal/integration/engines"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// A fleet is a coordinator and two databases with the shards, which it knows as the servers alpha and beta.
type fleet struct {
	coordinator *server
	servers     map[string]*server
}

var day = time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)

func openFleet(t *testing.T) *fleet {
	t.Helper()
	f := &fleet{openPostgres(t), map[string]*server{"alpha": openPostgres(t), "beta": openPostgres(t)}}
	if one[int](t, f.coordinator, "SELECT count(*) FROM pg_available_extensions WHERE name = 'postgres_fdw'") == 0 {
		testserver.Missing(t, "this PostgreSQL has no postgres_fdw")
	}
	block := engines.Documented(t, "ddl.md", "### By a hash", 1)[0] // CREATE SERVER
	for i, name := range []string{"alpha", "beta"} {
		u := ok(url.Parse(f.servers[name].DSN))(t)
		written := fmt.Sprintf("host '10.0.0.%d', port '5432', dbname 'shop'", i+1)
		if !strings.Contains(block, written) {
			t.Fatalf("no %s in\n%s", written, block)
		}
		block = strings.ReplaceAll(block, written, fmt.Sprintf("host '%s', port '%s', dbname '%s'", u.Hostname(), u.Port(), u.Path[1:]))
		block = strings.ReplaceAll(block, "user 'app', password 'secret'", fmt.Sprintf("user '%s'", u.User.Username()))
	}
	f.coordinator.Run(t, statements(block)...)
	return f
}

func TestSharding(t *testing.T) {
	t.Parallel()
	f := openFleet(t)
	t.Run("by field", func(t *testing.T) { byField(t, f) })
	t.Run("by hash", func(t *testing.T) { byHash(t, f) })
	t.Run("by time", func(t *testing.T) { byTime(t, f) })
}

// Rows go to the shard of their id, each shard gets its part at one id a minute, and
// a query reads only what it needs: one server for an id, one partition of each shard for a day.
func byHash(t *testing.T, f *fleet) {
	s := f.coordinator
	sharding := ddl.Sharding{Dialect: ddl.Postgres, Table: "orders", Count: 4, Servers: []string{"alpha", "beta"}}
	shards := ok(sharding.Shards())(t)
	f.createShards(t, shards, day)
	s.Run(t, "CREATE TABLE orders (id bigint NOT NULL, note text) "+ok(sharding.Clause())(t))
	s.Run(t, ok(sharding.Create())(t)...)

	want, rows := make([][]int64, 4), []string(nil)
	for i := range 3 * 24 * 60 {
		id := idAt(t, day.Add(time.Duration(i)*time.Minute))
		n := ok(core.Shard(id, 4))(t)
		want[n] = append(want[n], id)
		rows = append(rows, fmt.Sprintf("(%d, 'n')", id))
	}
	s.Run(t, "INSERT INTO orders VALUES "+strings.Join(rows, ","))
	for i, one := range shards {
		ids := want[i]
		if got, want := f.servers[one.Server].Lines(t, "SELECT count(*), min(id), max(id) FROM "+one.Table)[0], fmt.Sprint(len(ids), ids[0], ids[len(ids)-1]); got != want {
			t.Errorf("%s holds %s, want %s", one.Table, got, want)
		}
		if part := len(rows) / 4; len(ids) < part*9/10 || len(ids) > part*11/10 {
			t.Errorf("%s has %d of %d rows", one.Table, len(ids), len(rows))
		}
		id := ids[7]
		f.asks(t, fmt.Sprintf("SELECT id FROM orders WHERE id = %d AND orders_shard(id) = orders_shard(%[1]d)", id), 1, one.Table)
	}
	if err := f.servers["alpha"].Try(fmt.Sprintf("INSERT INTO orders_s0 VALUES (%d, 'wrong')", want[1][0])); err == nil {
		t.Error("the table of shard 0 took a row of shard 1")
	}

	min, max, err := core.Twitter().Range(day.AddDate(0, 0, 1), day.AddDate(0, 0, 2))
	if err != nil {
		t.Fatal(err)
	}
	asked := f.asks(t, fmt.Sprintf("SELECT id FROM orders WHERE id >= %d AND id < %d", min, max), 24*60, "orders_s0", "orders_s1", "orders_s2", "orders_s3")
	for _, one := range shards {
		on := f.servers[one.Server]
		parts, err := (ddl.Partitioning{Dialect: ddl.Postgres, Table: one.Table, By: ddl.Day}).Read(t.Context(), on)
		if err != nil || len(parts) != 3 {
			t.Fatalf("%v, %v", parts, err)
		}
		if got := read(t, on, parts, asked[one.Table]); len(got) != 1 || got[0] != parts[1].Name {
			t.Errorf("%s reads the partitions %q for %s", one.Table, got, asked[one.Table])
		}
	}
	f.drop(t, shards)
}

// The statements of docs/ddl.md for shards by time: a query of one day asks one server.
func byTime(t *testing.T, f *fleet) {
	block := engines.Documented(t, "ddl.md", "### By time", 1)[0]
	parts, err := (ddl.Partitioning{Dialect: ddl.Postgres, Table: "orders", By: ddl.Month}).Bounds(day, day.AddDate(0, 1, 0))
	if err != nil || len(parts) != 2 {
		t.Fatalf("%v, %v", parts, err)
	}
	for i, name := range []string{"alpha", "beta"} {
		f.servers[name].Run(t, fmt.Sprintf("CREATE TABLE %s (id bigint PRIMARY KEY, note varchar(20))", parts[i].Name))
		if !strings.Contains(block, fmt.Sprint(parts[i].Max)) {
			t.Errorf("the document has not the bound %d of %s", parts[i].Max, parts[i].Name)
		}
	}
	f.coordinator.Run(t, statements(block)...)
	for i, name := range []string{"alpha", "beta"} {
		id := idAt(t, day.AddDate(0, i, 0))
		f.coordinator.Run(t, fmt.Sprintf("INSERT INTO orders VALUES (%d, 'n')", id))
		if got := one[int](t, f.servers[name], "SELECT count(*) FROM "+parts[i].Name); got != 1 {
			t.Errorf("%s has %d rows", name, got)
		}
		f.asks(t, fmt.Sprintf("SELECT id FROM orders WHERE id >= %d AND id < %d", id, id+86_400_000<<22), 1, parts[i].Name)
	}
}

// Shards by a field of the id.
func byField(t *testing.T, f *fleet) {
	sharding := ddl.Sharding{Dialect: ddl.Postgres, Table: "orders", Field: ddl.Datacenter, Count: 2, Servers: []string{"alpha", "beta"}}
	shards := ok(sharding.Shards())(t)
	f.createShards(t, shards, day)
	s := f.coordinator
	s.Run(t, "CREATE TABLE orders (id bigint NOT NULL, note varchar(20)) "+ok(sharding.Clause())(t))
	s.Run(t, ok(sharding.Create())(t)...)
	for dc := range int64(4) {
		id := ok(core.Twitter().Compose(core.Parts{Time: day, Datacenter: dc, Worker: 31, Sequence: 4095}))(t)
		s.Run(t, fmt.Sprintf("INSERT INTO orders VALUES (%d, 'n')", id))
		one := shards[dc%2]
		if n := f.servers[one.Server].Lines(t, fmt.Sprintf("SELECT count(*) FROM %s WHERE id = %d", one.Table, id))[0]; n != "1" {
			t.Errorf("%s has %s rows of datacenter %d", one.Table, n, dc)
		}
	}
	f.drop(t, shards)
}

// drop removes the table and its shards.
func (f *fleet) drop(t *testing.T, shards []ddl.Shard) {
	t.Helper()
	f.coordinator.Run(t, "DROP TABLE orders", "DROP FUNCTION orders_shard")
	for _, one := range shards {
		f.servers[one.Server].Run(t, "DROP TABLE "+one.Table)
	}
}

func idAt(t *testing.T, at time.Time) int64 {
	return ok(core.Twitter().Compose(core.Parts{Time: at, Worker: 3}))(t)
}

// createShards creates the tables of the shards, each with partitions for three days.
func (f *fleet) createShards(t *testing.T, shards []ddl.Shard, from time.Time) {
	t.Helper()
	for _, one := range shards {
		on := f.servers[one.Server]
		p := ddl.Partitioning{Dialect: ddl.Postgres, Table: one.Table, By: ddl.Day}
		parts := ok(p.Bounds(from, from.AddDate(0, 0, 3)))(t)
		on.Run(t, "CREATE TABLE "+one.Table+" (id bigint PRIMARY KEY, note text) "+ok(p.Clause(parts))(t))
		on.Run(t, ok(p.Create(parts))(t)...)
		on.Run(t, "ALTER TABLE "+one.Table+" ADD "+one.Check)
	}
}

// asks expects a query to return rows, and to ask only the servers of these foreign tables. It returns what they
// are asked.
func (f *fleet) asks(t *testing.T, query string, rows int, tables ...string) map[string]string {
	t.Helper()
	asked, names := map[string]string{}, []string(nil)
	for _, m := range regexp.MustCompile(`Remote SQL: (SELECT .* FROM public\.(\w+) .*)`).FindAllStringSubmatch(strings.Join(f.coordinator.Lines(t, "EXPLAIN (VERBOSE) "+query), "\n"), -1) {
		asked[m[2]], names = m[1], append(names, m[2])
	}
	if got := f.coordinator.Lines(t, query); len(got) != rows || !slices.Equal(names, tables) {
		t.Errorf("%d rows from %q, want %d from %q: %s", len(got), names, rows, tables, query)
	}
	return asked
}

// Every database computes the same shard as core.Shard for every int64, MySQL also in an unsigned column.
func TestShard(t *testing.T) {
	onEvery(t, func(t *testing.T, s *server) {
		kinds := []string{"bigint"}
		if s.Dialect == ddl.MySQL {
			kinds = append(kinds, "bigint unsigned")
		}
		for _, kind := range kinds {
			ids := []int64{0, 1, math.MaxInt64, math.MaxInt64 - 1, 3863124193, 2387542127, 3863124193 * 2387542127, 3863124192 * 2387542126}
			for range 2000 {
				ids = append(ids, rand.Int64(), rand.Int64()>>rand.IntN(63))
			}
			if kind == "bigint" {
				ids = append(ids, -1, math.MinInt64+1)
				for range 1000 {
					ids = append(ids, -rand.Int64())
				}
			}
			slices.Sort(ids)
			ids = slices.Compact(ids)
			s.Run(t, "CREATE TABLE ids (id "+kind+" PRIMARY KEY)", "INSERT INTO ids VALUES ("+strings.ReplaceAll(strings.Trim(fmt.Sprint(ids), "[]"), " ", "), (")+")")
			for _, n := range []int{1, 2, 16, 1000, core.MaxShards} {
				t.Run(fmt.Sprint(kind, n), func(t *testing.T) {
					for _, line := range s.Lines(t, "SELECT id, "+ok(ddl.Config{Dialect: s.Dialect}.Shard(n, "id"))(t)+" FROM ids") {
						var id int64
						var got int
						if _, err := fmt.Sscan(line, &id, &got); err != nil {
							t.Fatal(err)
						}
						if want, err := core.Shard(id, n); err != nil || got != want {
							t.Fatalf("id %d is in shard %d, want %d, %v", id, got, want, err)
						}
					}
				})
			}
			s.Run(t, "DROP TABLE ids")
		}
	})
}
