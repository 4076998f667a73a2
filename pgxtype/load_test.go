package pgxtype_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/pgxtype"
)

type line struct {
	ID, OrderID ID
	SKU         string
	Quantity    int
}

type order struct {
	ID       ID
	ParentID NullID
	Note     *string
	PlacedAt time.Time
	Lines    []line
}

// shop is a schema of its own with orders and their lines.
type shop struct {
	pool   *pgxpool.Pool
	schema string
}

const shopTables = `
	create table orders (id bigint primary key, parent_id bigint references orders, note text check (note <> 'bad'), placed_at timestamptz not null);
	create table lines (id bigint primary key, order_id bigint not null references orders, sku varchar(8) not null unique, quantity int check (quantity > 0));
	create index on lines (order_id);`

func newShop(t testing.TB, mode pgx.QueryExecMode, register bool, ddl string) *shop {
	t.Helper()
	config, err := pgxpool.ParseConfig(testserver.Postgres(t).DSN)
	if err != nil {
		t.Fatal(err)
	}
	s := &shop{schema: fmt.Sprintf("shop_%016x", rand.Uint64())}
	config.MaxConns = 4
	config.ConnConfig.RuntimeParams["search_path"] = s.schema
	config.ConnConfig.DefaultQueryExecMode = mode
	if register {
		config.AfterConnect = pgxtype.AfterConnect
	}
	if s.pool, err = pgxpool.NewWithConfig(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), enough) // a test that failed may have left a lock
		defer cancel()
		if _, err := s.pool.Exec(ctx, "drop schema "+s.schema+" cascade"); err != nil {
			t.Error(err)
		}
		end(t, s.pool)
	})
	for _, sql := range append([]string{"create schema " + s.schema}, strings.Split(ddl, ";\n")...) {
		if _, err := s.pool.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	return s
}

// enough is far longer than anything here takes on a busy machine.
const enough = 2 * time.Minute

// end closes a pool, which waits for its connections: for ever, where a test that
// failed has left one in use.
func end(t testing.TB, pool *pgxpool.Pool) {
	t.Helper()
	done := make(chan struct{})
	go func() { pool.Close(); close(done) }()
	select {
	case <-done:
	case <-time.After(enough):
		t.Error("a connection is still in use")
	}
}

// until waits for something, but not for ever.
func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(enough); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("after %v still not so: %s", enough, what)
		}
	}
}

// idle waits until no connection is in use: one that was closed is given back on
// another goroutine.
func (s *shop) idle(t testing.TB) {
	t.Helper()
	until(t, "no connection is in use", func() bool { return s.pool.Stat().AcquiredConns() == 0 })
}

func (s *shop) ask(t testing.TB, query string, args ...any) (n int64) {
	t.Helper()
	if err := s.pool.QueryRow(t.Context(), query, args...).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

// empty fails the test if a load left something.
func (s *shop) empty(t testing.TB) {
	t.Helper()
	if n := s.ask(t, `select (select count(*) from orders) + (select count(*) from lines)`); n != 0 {
		t.Errorf("%d rows stayed", n)
	}
}

func orderValues(o *order, row []any) []any {
	return append(row, &o.ID, &o.ParentID, o.Note, &o.PlacedAt)
}

func lineValues(l *line, row []any) []any {
	return append(row, &l.ID, &l.OrderID, &l.SKU, &l.Quantity)
}

var (
	orderColumns = []string{"id", "parent_id", "note", "placed_at"}
	lineColumns  = []string{"id", "order_id", "sku", "quantity"}
)

func orderTables(orders, lines string) []pgxtype.Table[order] {
	return []pgxtype.Table[order]{
		pgxtype.ParentTable(pgx.Identifier{orders}, orderColumns, orderValues),
		pgxtype.ChildTable(pgx.Identifier{lines}, lineColumns, func(o *order) []line { return o.Lines }, lineValues),
	}
}

func shopConfig(method pgxtype.Method) pgxtype.LoadConfig[order] {
	return pgxtype.LoadConfig[order]{Tables: orderTables("orders", "lines"), Method: method}
}

// makeOrders makes orders whose keys are known. Every third refers to the one
// before it, and has no note.
func makeOrders(orders, lines int) []order {
	out := make([]order, orders)
	key := ID(1000)
	next := func() ID { key++; return key }
	for i := range out {
		o := &out[i]
		o.ID, o.PlacedAt = next(), time.Date(2026, 11, 21, 8, 0, i, 0, time.UTC)
		if i%3 == 2 {
			o.ParentID = valid(out[i-1].ID)
		} else {
			o.Note = ptr(fmt.Sprintf("order %d, with \"quotes\", {braces}\n\t\\N", i))
		}
		for j := range lines {
			id := next()
			o.Lines = append(o.Lines, line{ID: id, OrderID: o.ID, SKU: id.String(), Quantity: j + 1})
		}
	}
	return out
}

var methods = map[string]pgxtype.Method{"copy": pgxtype.Copy, "unnest": pgxtype.Unnest}

// stored reads all orders and lines back.
func (s *shop) stored(t testing.TB) []order {
	t.Helper()
	rows, err := s.pool.Query(t.Context(), `select id, parent_id, note, placed_at from orders order by id`)
	if err != nil {
		t.Fatal(err)
	}
	orders, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (o order, err error) {
		err = row.Scan(&o.ID, &o.ParentID, &o.Note, &o.PlacedAt)
		o.PlacedAt = o.PlacedAt.UTC()
		return o, err
	})
	if err != nil {
		t.Fatal(err)
	}
	at := map[ID]*order{}
	for i := range orders {
		at[orders[i].ID] = &orders[i]
	}
	rows, err = s.pool.Query(t.Context(), `select id, order_id, sku, quantity from lines order by id`)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowToStructByPos[line])
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lines {
		at[l.OrderID].Lines = append(at[l.OrderID].Lines, l)
	}
	return orders
}

// What is loaded is there, to the last row: by every method, in every mode, from
// everything that begins a transaction.
func TestLoad(t *testing.T) {
	want := makeOrders(100, 7)
	for _, mode := range modes {
		for name, method := range methods {
			for _, register := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s/%s/registered=%v", mode, name, register), func(t *testing.T) {
					s := newShop(t, mode, register, shopTables)
					conn, err := s.pool.Acquire(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					defer conn.Release()
					tx, err := conn.Begin(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					cfg := shopConfig(method)
					cfg.ChunkRows = 90 // 12 parents, so 9 chunks
					var told []pgxtype.Loaded
					cfg.Progress = func(l pgxtype.Loaded) { told = append(told, l) }
					for i, db := range []pgxtype.Beginner{tx, s.pool, conn.Conn()} {
						told = nil
						loaded, err := pgxtype.Load(t.Context(), db, pgxtype.Seq(slices.Values(want)), cfg)
						if all := (pgxtype.Loaded{Parents: 100, Rows: 800, Tables: []int64{100, 700}}); err != nil || !reflect.DeepEqual(loaded, all) {
							t.Fatalf("%T: %+v, %v", db, loaded, err)
						}
						if len(told) != 9 || !reflect.DeepEqual(told[0], pgxtype.Loaded{Parents: 12, Rows: 96, Tables: []int64{12, 84}}) || !reflect.DeepEqual(told[8], loaded) {
							t.Errorf("%T: progress %v", db, told)
						}
						if i == 0 {
							s.empty(t) // the transaction around it is not committed
							if err := tx.Commit(t.Context()); err != nil {
								t.Fatal(err)
							}
						}
						if got := s.stored(t); !reflect.DeepEqual(got, want) {
							t.Errorf("%T: %d orders came back, or they differ", db, len(got))
						}
						if _, err := s.pool.Exec(t.Context(), `truncate orders, lines`); err != nil {
							t.Fatal(err)
						}
					}
				})
			}
		}
	}
}

func TestLoadNothing(t *testing.T) {
	s := newShop(t, pgx.QueryExecModeCacheStatement, true, shopTables)
	for name, method := range methods {
		loaded, err := pgxtype.Load(t.Context(), s.pool, pgxtype.Seq(slices.Values([]order(nil))), shopConfig(method))
		if err != nil || loaded.Rows != 0 || len(loaded.Tables) != 2 {
			t.Errorf("%s: %+v, %v", name, loaded, err)
		}
		cfg := shopConfig(method)
		cfg.Tables = cfg.Tables[1:]
		loaded, err = pgxtype.Load(t.Context(), s.pool, pgxtype.Seq(slices.Values(make([]order, 5))), cfg)
		if err != nil || loaded.Parents != 5 || loaded.Rows != 0 {
			t.Errorf("%s, parents without lines: %+v, %v", name, loaded, err)
		}
	}
	s.empty(t)
}

// Names are data.
func TestLoadQuotes(t *testing.T) {
	const table, column = `We"ird; drop table orders --`, `from "x", y`
	name := pgx.Identifier{table}
	s := newShop(t, pgx.QueryExecModeExec, true, shopTables+fmt.Sprintf("\n\tcreate table %s (%s bigint primary key)", name.Sanitize(), pgx.Identifier{column}.Sanitize()))
	for _, method := range methods {
		for _, name := range []pgx.Identifier{{table}, {s.schema, table}} {
			cfg := pgxtype.LoadConfig[ID]{Method: method, Tables: []pgxtype.Table[ID]{
				pgxtype.ParentTable(name, []string{column}, func(id *ID, row []any) []any { return append(row, id) }),
			}}
			if _, err := pgxtype.Load(t.Context(), s.pool, pgxtype.Seq(slices.Values([]ID{1, 2})), cfg); err != nil {
				t.Fatal(err)
			}
			_, err := pgxtype.Load(t.Context(), s.pool, pgxtype.Seq(slices.Values([]ID{3, 4, 2})), cfg)
			var at *pgxtype.LoadError
			if !errors.As(err, &at) || at.Row != 2 {
				t.Error(err)
			}
			if _, err := s.pool.Exec(t.Context(), "delete from "+name.Sanitize()); err != nil {
				t.Fatal(err)
			}
		}
	}
	s.empty(t)
}

// Every column that PostgreSQL has gets the same from both methods as from pgx's
// own CopyFrom.
func TestLoadColumns(t *testing.T) {
	s := newShop(t, pgx.QueryExecModeCacheStatement, true, `create domain key as bigint check (value > 0);
		create type color as enum ('red', 'green');
		create table t (id bigint generated always as identity primary key, n int, s smallint, num numeric(20,0), txt text, vc varchar(30), dom key,
			doc jsonb, ts timestamptz, day date, flag boolean, raw bytea, u uuid, hue color, f float8, few bigint[])`)
	columns := []string{"id", "n", "s", "num", "txt", "vc", "dom", "doc", "ts", "day", "flag", "raw", "u", "hue", "f"}
	type row []any
	rows := []row{
		{big, 1, int16(2), big, big, ptr(big), big, map[string]any{"a": 1}, time.Unix(1e9, 5000).UTC(), "2026-11-21", true, []byte{0, 1, 255},
			"6ba7b810-9dad-11d1-80b4-00c04fd430c8", "green", 1.5},
		{big + 1, nil, nil, NullID{}, nil, (*ID)(nil), nil, nil, nil, nil, nil, nil, nil, nil, nil},
		{big + 2, ID(7), ID(8), "12", "", "x", valid(7), `{"b": "1996573624012345677"}`, "2026-11-21 08:00:00+02", time.Unix(0, 0).UTC(), false, []byte{},
			[16]byte{1}, "red", float32(2)},
	}
	const read = `select string_agg(t::text, E'\n' order by id) from t`
	var want string
	if _, err := s.pool.CopyFrom(t.Context(), pgx.Identifier{"t"}, columns, pgx.CopyFromRows([][]any{rows[0], rows[1], rows[2]})); err != nil {
		t.Fatal(err)
	}
	if err := s.pool.QueryRow(t.Context(), read).Scan(&want); err != nil {
		t.Fatal(err)
	}
	for name, method := range methods {
		if _, err := s.pool.Exec(t.Context(), `truncate t`); err != nil {
			t.Fatal(err)
		}
		table := func(columns []string) pgxtype.LoadConfig[row] {
			return pgxtype.LoadConfig[row]{Method: method, Tables: []pgxtype.Table[row]{
				pgxtype.ParentTable(pgx.Identifier{"t"}, columns, func(r *row, out []any) []any { return append(out, *r...) }),
			}}
		}
		if _, err := pgxtype.Load(t.Context(), s.pool, pgxtype.Seq(slices.Values(rows)), table(columns)); err != nil {
			t.Fatal(name, err)
		}
		var got string
		if err := s.pool.QueryRow(t.Context(), read).Scan(&got); err != nil || got != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, want)
		}
		_, err := pgxtype.Load(t.Context(), s.pool, pgxtype.Seq(slices.Values([]row{{ID(1), []ID{1, 2}}})), table([]string{"id", "few"}))
		var at *pgxtype.LoadError
		switch {
		case method == pgxtype.Copy && err != nil:
			t.Error(err)
		case method == pgxtype.Unnest && (!errors.As(err, &at) || at.Column != "few" || !strings.Contains(err.Error(), "use Copy")):
			t.Errorf("an array column: %v", err)
		}
	}
}

// Rows come from sequences; deeper children from a function that joins them.
func TestLoadSequences(t *testing.T) {
	want := makeOrders(40, 3)
	for name, method := range methods {
		s := newShop(t, pgx.QueryExecModeCacheDescribe, false, shopTables)
		stopped := 0
		cfg := pgxtype.LoadConfig[[]order]{Method: method, ChunkRows: 2, Tables: []pgxtype.Table[[]order]{
			pgxtype.ChildTable(pgx.Identifier{"orders"}, orderColumns, func(o *[]order) []order { return *o }, orderValues),
			pgxtype.ChildTableSeq(pgx.Identifier{s.schema, "lines"}, lineColumns, func(orders *[]order) iter.Seq2[line, error] {
				if len((*orders)[0].Lines) == 0 {
					return nil
				}
				return func(yield func(line, error) bool) {
					defer func() { stopped++ }()
					for _, o := range *orders {
						for _, l := range o.Lines {
							if !yield(l, nil) {
								return
							}
						}
					}
				}
			}, lineValues),
		}}
		loaded, err := pgxtype.Load(t.Context(), s.pool, pgxtype.Seq(slices.Chunk(want, 7)), cfg)
		if err != nil || loaded.Parents != 6 || loaded.Rows != 160 || stopped != 6 {
			t.Errorf("%s: %+v, %v, %d sequences ended", name, loaded, err, stopped)
		}
		if got := s.stored(t); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %d orders came back, or they differ", name, len(got))
		}
		if _, err := pgxtype.Load(t.Context(), s.pool, pgxtype.Seq(slices.Values([][]order{{{ID: 5, PlacedAt: time.Now()}}})), cfg); err != nil {
			t.Errorf("%s: a nil sequence: %v", name, err)
		}

		// Rows of a sequence count for the chunk: here each parent fills one.
		if _, err := s.pool.Exec(t.Context(), `truncate lines`); err != nil {
			t.Fatal(err)
		}
		chunks, seqs := 0, pgxtype.LoadConfig[[]order]{Method: method, ChunkRows: 2, Tables: cfg.Tables[1:]}
		seqs.Progress = func(pgxtype.Loaded) { chunks++ }
		if _, err := pgxtype.Load(t.Context(), s.pool, pgxtype.Seq(slices.Chunk(want, 7)), seqs); err != nil || chunks != 6 {
			t.Errorf("%s: %d chunks, %v", name, chunks, err)
		}
		// A sequence that is not run to its end is ended all the same.
		stopped = 0
		want := slices.Clone(want[:1])
		want[0].Lines = slices.Clone(want[0].Lines)
		want[0].Lines[1].Quantity = 1 << 40
		if _, err := pgxtype.Load(t.Context(), s.pool, pgxtype.Seq(slices.Values([][]order{want})), seqs); err == nil || stopped != 1 {
			t.Errorf("%s: %d sequences ended, %v", name, stopped, err)
		}
	}
}

// A row may refer to a later one of its table, of the same parent: a parent is whole
// in a chunk, whatever comes before it.
func TestLoadTrees(t *testing.T) {
	type node struct{ ID, Parent ID }
	columns := []string{"id", "parent"}
	values := func(n *node, row []any) []any { return append(row, &n.ID, &n.Parent) }
	trees := func(yield func([]node) bool) {
		for i := range ID(100) {
			var tree []node
			for j := range 1 + i%7 {
				tree = append(tree, node{100*i + j, 100*i + i%7}) // its last is the root
			}
			if !yield(tree) {
				return
			}
		}
	}
	for name, method := range methods {
		for shape, table := range map[string]pgxtype.Table[[]node]{
			"list":     pgxtype.ChildTable(pgx.Identifier{"nodes"}, columns, func(tree *[]node) []node { return *tree }, values),
			"sequence": pgxtype.ChildTableSeq(pgx.Identifier{"nodes"}, columns, func(tree *[]node) iter.Seq2[node, error] { return pgxtype.Seq(slices.Values(*tree)) }, values),
		} {
			s := newShop(t, pgx.QueryExecModeCacheStatement, true, `create table nodes (id bigint primary key, parent bigint not null references nodes)`)
			chunks := 0
			loaded, err := pgxtype.Load(t.Context(), s.pool, pgxtype.Seq(trees), pgxtype.LoadConfig[[]node]{
				Tables: []pgxtype.Table[[]node]{table}, Method: method, ChunkBytes: 250, Progress: func(pgxtype.Loaded) { chunks++ }, // a tree has up to 182 bytes
			})
			if err != nil || loaded.Rows != 395 || chunks < 30 {
				t.Errorf("%s, %s: %+v in %d chunks, %v", name, shape, loaded, chunks, err)
			}
		}
	}
}

// A type for which pgx has no codec is refused, unless the server reads text: pgx would send the
// binary form of the Go value, which is another value there.
func TestLoadUnknownTypes(t *testing.T) {
	s := newShop(t, pgx.QueryExecModeCacheStatement, true, `create extension citext;
		create type mood as enum ('sad', 'fine');
		create table u (id bigint primary key, name citext, hue mood, price money, pair point, state pg_snapshot)`)
	type row []any
	load := func(method pgxtype.Method, columns []string, values ...any) error {
		_, err := pgxtype.Load(t.Context(), s.pool, pgxtype.Seq(slices.Values([]row{values})), pgxtype.LoadConfig[row]{Method: method, Tables: []pgxtype.Table[row]{
			pgxtype.ParentTable(pgx.Identifier{"u"}, columns, func(r *row, out []any) []any { return append(out, *r...) }),
		}})
		return err
	}
	id := int64(0)
	for name, method := range methods {
		for _, v := range []struct{ name, hue any }{{big, "sad"}, {"Ann", ptr("fine")}, {ptr("Bob"), nil}, {nil, "fine"}} {
			id++
			if err := load(method, []string{"id", "name", "hue"}, id, v.name, v.hue); err != nil {
				t.Errorf("%s: %v: %v", name, v, err)
			}
		}
		for column, value := range map[string]any{"price": "12345.67", "state": "10:20:10"} {
			for _, v := range []any{value, big} {
				var at *pgxtype.LoadError
				if err := load(method, []string{"id", column}, int64(1000), v); !errors.As(err, &at) || at.Column != column || !strings.Contains(err.Error(), "pgx has no codec for its type "+map[string]string{"price": "money", "state": "pg_snapshot"}[column]) {
					t.Errorf("%s: %v into %s: %v", name, v, column, err)
				}
			}
		}
	}
	var got string
	want := fmt.Sprintf("%[1]d sad, Ann fine, Bob -, - fine, %[1]d sad, Ann fine, Bob -, - fine", big)
	if err := s.pool.QueryRow(t.Context(), `select string_agg(coalesce(name::text, '-') || ' ' || coalesce(hue::text, '-'), ', ' order by id) from u`).Scan(&got); err != nil || got != want {
		t.Errorf("%s, want %s, %v", got, want, err)
	}
}
