package ddl

import (
	"context"
	"database/sql"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// A fleet is a coordinator and two servers with the shards. Their names there are alpha and beta.
type fleet struct {
	coordinator *server
	servers     map[string]*server
	processes   map[string]*testserver.Server
}

var day = time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)

// openFleet starts two servers, and a database on a third as the coordinator.
func openFleet(t *testing.T) *fleet {
	t.Helper()
	f := &fleet{servers: map[string]*server{}, processes: map[string]*testserver.Server{}}
	for _, name := range []string{"alpha", "beta"} {
		f.processes[name] = testserver.New(t, testserver.KindPostgres)
		f.servers[name] = open(t, f.processes[name].DSN)
	}
	f.coordinator = open(t, testserver.Database(t, "pgx", testserver.Postgres(t).DSN))
	if one[int](t, f.coordinator, "SELECT count(*) FROM pg_available_extensions WHERE name = 'postgres_fdw'") == 0 {
		testserver.Missing(t, "this PostgreSQL has no postgres_fdw")
	}
	f.coordinator.run(t, f.addresses(t, documented(t, "By a hash")[0])...) // CREATE SERVER
	return f
}

// addresses replaces those of the document.
func (f *fleet) addresses(t *testing.T, block string) []string {
	t.Helper()
	for i, name := range []string{"alpha", "beta"} {
		host, port, err := net.SplitHostPort(f.processes[name].Addr)
		if err != nil {
			t.Fatal(err)
		}
		at := fmt.Sprintf("10.0.0.%d", i+1)
		if !strings.Contains(block, at) {
			t.Fatalf("no %s in\n%s", at, block)
		}
		block = strings.ReplaceAll(block, "'"+at+"', port '5432'", fmt.Sprintf("'%s', port '%s'", host, port))
	}
	block = strings.NewReplacer("'shop'", "'postgres'", "user 'app', password 'secret'", "user 'postgres'").Replace(block)
	return statements(block)
}

// documented are the blocks of SQL in a section of docs/ddl.md.
func documented(t *testing.T, section string) (blocks []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "ddl.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "\n### "+section+"\n")
	rest, _, _ = strings.Cut(rest, "\n##")
	for _, m := range regexp.MustCompile("(?s)\n```sql\n(.*?)\n```\n").FindAllStringSubmatch(rest, -1) {
		blocks = append(blocks, m[1])
	}
	if !found || len(blocks) == 0 {
		t.Fatalf("no SQL in %q", section)
	}
	return blocks
}

func open(t *testing.T, dsn string) *server {
	t.Helper()
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxIdleConns(0) // a server may be restarted
	return &server{DB: db, dialect: ddl.Postgres}
}

func TestSharding(t *testing.T) {
	t.Parallel()
	f := openFleet(t)
	t.Run("by field", func(t *testing.T) { byField(t, f) })
	t.Run("by hash", func(t *testing.T) { byHash(t, f) })
	t.Run("by time", func(t *testing.T) { byTime(t, f) })
}

// Rows go to the shard of their id, each shard gets its part at one id a minute, and
// a query reads only what it needs: one server for an id, one partition of each shard for a
// day. A server that is down shows which queries ask it.
func byHash(t *testing.T, f *fleet) {
	s := f.coordinator
	sharding := ddl.Sharding{Dialect: ddl.Postgres, Table: "orders", Count: 4, Servers: []string{"alpha", "beta"}}
	shards, err := sharding.Shards()
	if err != nil {
		t.Fatal(err)
	}
	f.createShards(t, shards, day)
	s.run(t, "CREATE TABLE orders (id bigint NOT NULL, note text) "+text(t)(sharding.Clause()))
	s.run(t, script(t)(sharding.Create())...)

	want, rows := make([][]int64, 4), []string(nil)
	for i := range 3 * 24 * 60 {
		id := idAt(t, day.Add(time.Duration(i)*time.Minute))
		n, err := core.Shard(id, 4)
		if err != nil {
			t.Fatal(err)
		}
		want[n] = append(want[n], id)
		rows = append(rows, fmt.Sprintf("(%d, 'n')", id))
	}
	s.run(t, "INSERT INTO orders VALUES "+strings.Join(rows, ","))
	for i, one := range shards {
		ids := want[i]
		if got, want := lines(t, f.servers[one.Server], "SELECT count(*), min(id), max(id) FROM "+one.Table)[0], fmt.Sprint(len(ids), ids[0], ids[len(ids)-1]); got != want {
			t.Errorf("%s holds %s, want %s", one.Table, got, want)
		}
		if part := len(rows) / 4; len(ids) < part*9/10 || len(ids) > part*11/10 {
			t.Errorf("%s has %d of %d rows", one.Table, len(ids), len(rows))
		}
	}
	if err := exec(f.servers["alpha"], ddl.Script{fmt.Sprintf("INSERT INTO orders_s0 VALUES (%d, 'wrong')", want[1][0])}); err == nil {
		t.Error("the table of shard 0 took a row of shard 1")
	}

	min, max, err := core.Twitter().Range(day.AddDate(0, 0, 1), day.AddDate(0, 0, 2))
	if err != nil {
		t.Fatal(err)
	}
	where := fmt.Sprintf(" FROM orders WHERE id >= %d AND id < %d", min, max)
	if n := one[int](t, s, "SELECT count(*)"+where); n != 24*60 {
		t.Errorf("%d rows in a day", n)
	}
	f.onePartition(t, shards, fmt.Sprintf("id >= %d AND id < %d", min, max))

	byID := func(id int64) string {
		return fmt.Sprintf("SELECT note FROM orders WHERE id = %d AND orders_shard(id) = orders_shard(%[1]d)", id)
	}
	for i := range shards {
		if got := f.shardsRead(t, shards, byID(want[i][7])); !slices.Equal(got, []int{i}) {
			t.Errorf("one id of shard %d reads the shards %v", i, got)
		}
	}
	if got := f.shardsRead(t, shards, "SELECT note"+where); len(got) != 4 {
		t.Errorf("a day reads the shards %v", got)
	}
	f.loses(t, "beta", byID(want[2][7]), byID(want[1][7]))
	f.drop(t, shards)
}

// The statements of docs/ddl.md for shards by time: a query of one day asks one server.
func byTime(t *testing.T, f *fleet) {
	block := documented(t, "By time")[0]
	p := ddl.Partitioning{Dialect: ddl.Postgres, Table: "orders", By: ddl.Month}
	parts, err := p.Bounds(day, day.AddDate(0, 1, 0))
	if err != nil || len(parts) != 2 {
		t.Fatalf("%v, %v", parts, err)
	}
	for i, name := range []string{"alpha", "beta"} {
		f.servers[name].run(t, fmt.Sprintf("CREATE TABLE orders_p%s (id bigint PRIMARY KEY, note varchar(20))", parts[i].From.Format("200601")))
		if !strings.Contains(block, fmt.Sprint(parts[i].Max)) {
			t.Errorf("the document has not the bound %d of %s", parts[i].Max, parts[i].Name)
		}
	}
	s := f.coordinator
	s.run(t, statements(block)...)
	november, december := idAt(t, day), idAt(t, day.AddDate(0, 1, 0))
	s.run(t, fmt.Sprintf("INSERT INTO orders VALUES (%d, 'n'), (%d, 'd')", november, december))
	for i, name := range []string{"alpha", "beta"} {
		if got := one[int](t, f.servers[name], "SELECT count(*) FROM orders_p"+parts[i].From.Format("200601")); got != 1 {
			t.Errorf("%s has %d rows", name, got)
		}
	}
	of := func(id int64) string {
		return fmt.Sprintf("SELECT note FROM orders WHERE id >= %d AND id < %d", id, id+86_400_000<<22)
	}
	f.loses(t, "beta", of(november), of(december))
}

// Shards by a field of the id.
func byField(t *testing.T, f *fleet) {
	sharding := ddl.Sharding{Dialect: ddl.Postgres, Table: "orders", Field: ddl.Datacenter, Count: 2, Servers: []string{"alpha", "beta"}}
	shards, err := sharding.Shards()
	if err != nil {
		t.Fatal(err)
	}
	f.createShards(t, shards, day)
	s := f.coordinator
	s.run(t, "CREATE TABLE orders (id bigint NOT NULL, note varchar(20)) "+text(t)(sharding.Clause()))
	s.run(t, script(t)(sharding.Create())...)
	for dc := range int64(4) {
		id, err := core.Twitter().Compose(core.Parts{Time: day, Datacenter: dc, Worker: 31, Sequence: 4095})
		if err != nil {
			t.Fatal(err)
		}
		s.run(t, fmt.Sprintf("INSERT INTO orders VALUES (%d, 'n')", id))
		one := shards[dc%2]
		if n := lines(t, f.servers[one.Server], fmt.Sprintf("SELECT count(*) FROM %s WHERE id = %d", one.Table, id))[0]; n != "1" {
			t.Errorf("%s has %s rows of datacenter %d", one.Table, n, dc)
		}
	}
	f.drop(t, shards)
}

// drop removes the table and its shards.
func (f *fleet) drop(t *testing.T, shards []ddl.Shard) {
	t.Helper()
	f.coordinator.run(t, "DROP TABLE orders", "DROP FUNCTION orders_shard")
	for _, one := range shards {
		f.servers[one.Server].run(t, "DROP TABLE "+one.Table)
	}
}

func idAt(t *testing.T, at time.Time) int64 {
	t.Helper()
	id, err := core.Twitter().Compose(core.Parts{Time: at, Worker: 3})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// createShards creates the tables of the shards, each with partitions for three days.
func (f *fleet) createShards(t *testing.T, shards []ddl.Shard, from time.Time) {
	t.Helper()
	for _, one := range shards {
		on := f.servers[one.Server]
		p := ddl.Partitioning{Dialect: ddl.Postgres, Table: one.Table, By: ddl.Day}
		parts, err := p.Bounds(from, from.AddDate(0, 0, 3))
		if err != nil {
			t.Fatal(err)
		}
		on.run(t, "CREATE TABLE "+one.Table+" (id bigint PRIMARY KEY, note text) "+text(t)(p.Clause(parts)))
		on.run(t, script(t)(p.Create(parts))...)
		on.run(t, "ALTER TABLE "+one.Table+" ADD "+one.Check)
	}
}

// shardsRead are the numbers of the shards in the plan of a query.
func (f *fleet) shardsRead(t *testing.T, shards []ddl.Shard, query string) (read []int) {
	t.Helper()
	plan := strings.Join(lines(t, f.coordinator, "EXPLAIN (VERBOSE) "+query), "\n")
	for i, one := range shards {
		if strings.Contains(plan, "FROM public."+one.Table+" ") {
			read = append(read, i)
		}
	}
	return read
}

// onePartition reads a day on each server, as the coordinator asks for it, and wants one partition.
func (f *fleet) onePartition(t *testing.T, shards []ddl.Shard, where string) {
	t.Helper()
	s := f.coordinator
	for _, one := range shards {
		on := f.servers[one.Server]
		plan := strings.Join(lines(t, s, "EXPLAIN (VERBOSE) SELECT id FROM orders WHERE "+where), "\n")
		sent := regexp.MustCompile(`Remote SQL: (SELECT id FROM public\.` + one.Table + ` WHERE .*)`).FindStringSubmatch(plan)
		if sent == nil {
			t.Fatalf("%s is not in\n%s", one.Table, plan)
		}
		asked := sent[1]
		p := ddl.Partitioning{Dialect: ddl.Postgres, Table: one.Table, By: ddl.Day}
		parts, err := p.Read(t.Context(), on)
		if err != nil || len(parts) != 3 {
			t.Fatalf("%v, %v", parts, err)
		}
		if got := read(t, on, parts, asked); len(got) != 1 || got[0] != parts[1].Name {
			t.Errorf("%s reads the partitions %q for %s", one.Table, got, asked)
		}
	}
}

// loses kills a server: the first query does not ask it and succeeds, the second does and
// fails. The coordinator knows the table already. Then the server starts again.
func (f *fleet) loses(t *testing.T, name, other, its string) {
	t.Helper()
	for _, query := range []string{other, its} {
		if got := lines(t, f.coordinator, query); len(got) != 1 {
			t.Errorf("%d rows, from %s", len(got), query)
		}
	}
	if err := f.processes[name].Kill(); err != nil {
		t.Fatal(err)
	}
	if got := lines(t, f.coordinator, other); len(got) != 1 {
		t.Errorf("%d rows without %s, from %s", len(got), name, other)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var note string
	if err := f.coordinator.QueryRowContext(ctx, its).Scan(&note); err == nil || ctx.Err() != nil {
		t.Errorf("%q without %s, %v, from %s", note, name, err, its)
	}
	if err := f.processes[name].Start(); err != nil {
		t.Fatal(err)
	}
}
