package pgxload_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/pgxtype"
	"github.com/seed-299c1d6b/snowkey/pgxtype/pgxload"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type (
	ID     = sqltype.ID
	NullID = sqltype.NullID
	row    = []any
	writes = func(w *pgxload.Writer) error // what Load takes
)

const big ID = 1996573624012345677

func valid(id ID) NullID { return NullID{ID: id, Valid: true} }

var (
	modes = []pgx.QueryExecMode{
		pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeDescribeExec, pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol,
	}
	methods   = map[string]pgxload.Method{"copy": pgxload.Copy, "unnest": pgxload.Unnest}
	errSource = errors.New("the source is at fault")
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

// shop is a separate schema with orders and their lines.
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
	must(t, err)
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
	s.exec(t, append([]string{"create schema " + s.schema}, strings.Split(ddl, ";\n")...)...)
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

// until waits for something, with a limit.
func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(enough); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("after %v still not so: %s", enough, what)
		}
	}
}

// exec runs statements.
func (s *shop) exec(t testing.TB, statements ...string) {
	t.Helper()
	for _, sql := range statements {
		if _, err := s.pool.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
}

// begin begins a transaction, which ends with the test.
func (s *shop) begin(t testing.TB, statements ...string) pgx.Tx {
	t.Helper()
	tx, err := s.pool.Begin(t.Context())
	must(t, err)
	t.Cleanup(func() { _ = tx.Rollback(context.Background()) })
	for _, sql := range statements {
		if _, err := tx.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	return tx
}

// ask returns the one value of a query.
func ask[T any](t testing.TB, s *shop, query string, args ...any) (v T) {
	t.Helper()
	if err := s.pool.QueryRow(t.Context(), query, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return v
}

func (s *shop) ask(t testing.TB, query string, args ...any) int64 {
	t.Helper()
	return ask[int64](t, s, query, args...)
}

// empty fails the test if a load has left rows.
func (s *shop) empty(t testing.TB) {
	t.Helper()
	if n := s.ask(t, `select (select count(*) from orders) + (select count(*) from lines)`); n != 0 {
		t.Errorf("%d rows stayed", n)
	}
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
			o.Note = new(fmt.Sprintf("order %d, with \"quotes\", {braces}\n\t\\N", i))
		}
		for j := range lines {
			id := next()
			o.Lines = append(o.Lines, line{ID: id, OrderID: o.ID, SKU: id.String(), Quantity: j + 1})
		}
	}
	return out
}

// stored reads all orders and lines back.
func (s *shop) stored(t testing.TB) []order {
	t.Helper()
	rows, err := s.pool.Query(t.Context(), `select id, parent_id, note, placed_at from orders order by id`)
	must(t, err)
	orders, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (o order, err error) {
		err = row.Scan(&o.ID, &o.ParentID, &o.Note, &o.PlacedAt)
		o.PlacedAt = o.PlacedAt.UTC()
		return o, err
	})
	must(t, err)
	at := map[ID]*order{}
	for i := range orders {
		at[orders[i].ID] = &orders[i]
	}
	rows, err = s.pool.Query(t.Context(), `select id, order_id, sku, quantity from lines order by id`)
	must(t, err)
	lines, err := pgx.CollectRows(rows, pgx.RowToStructByPos[line])
	must(t, err)
	for _, l := range lines {
		at[l.OrderID].Lines = append(at[l.OrderID].Lines, l)
	}
	return orders
}

var (
	orderColumns = []string{"id", "parent_id", "note", "placed_at"}
	lineColumns  = []string{"id", "order_id", "sku", "quantity"}
)

func (o *order) row() row { return row{&o.ID, &o.ParentID, o.Note, &o.PlacedAt} }

func (l *line) row() row { return row{&l.ID, &l.OrderID, &l.SKU, &l.Quantity} }

// tablesOf names the tables of the shop.
func tablesOf(w *pgxload.Writer) (orders, lines *pgxload.Table) {
	return w.Table("orders", orderColumns...), w.Table("lines", lineColumns...)
}

// writeOrders writes each order and then its lines.
func writeOrders(all []order) writes { return hooked(all, func(int, *pgxload.Writer) {}) }

// hooked is writeOrders, and calls hook before each line, with its number counted from 1.
func hooked(all []order, hook func(n int, w *pgxload.Writer)) writes {
	return func(w *pgxload.Writer) error {
		orders, lines := tablesOf(w)
		n := 0
		for i := range all {
			orders.Row(all[i].row()...)
			for j := range all[i].Lines {
				n++
				hook(n, w)
				lines.Row(all[i].Lines[j].row()...)
			}
		}
		return nil
	}
}

// writeRows writes rows to one table, whose columns are separated by spaces.
func writeRows(table, columns string, rows ...row) writes {
	return func(w *pgxload.Writer) error {
		t := w.Table(table, strings.Fields(columns)...)
		for _, r := range rows {
			t.Row(r...)
		}
		return nil
	}
}

// ids are rows of one column.
func ids(values ...ID) (rows []row) {
	for _, id := range values {
		rows = append(rows, row{id})
	}
	return rows
}

// at is the LoadError in err. If there is none, its row is -2.
func at(err error) pgxload.LoadError {
	e := &pgxload.LoadError{Row: -2}
	errors.As(err, &e)
	return *e
}

// heap returns how many bytes are in use and cannot be collected.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
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
					must(t, err)
					defer conn.Release()
					tx, err := conn.Begin(t.Context())
					must(t, err)
					var told []int64
					cfg := pgxload.Config{Method: method, ChunkBytes: 4000, Progress: func(l pgxload.Loaded) { told = append(told, l.Rows) }}
					for i, db := range []pgxload.Beginner{tx, s.pool, conn.Conn()} {
						told = nil
						loaded, err := pgxload.LoadWith(t.Context(), db, cfg, writeOrders(want))
						if all := (pgxload.Loaded{Rows: 800, Tables: []int64{100, 700}}); err != nil || !reflect.DeepEqual(loaded, all) {
							t.Fatalf("%T: %+v, %v", db, loaded, err)
						}
						if len(told) < 8 || told[0] > 120 || told[len(told)-1] != 800 || !slices.IsSorted(told) {
							t.Errorf("%T: progress %v", db, told)
						}
						if i == 0 {
							s.empty(t) // the transaction around it is not committed
							must(t, tx.Commit(t.Context()))
						}
						if got := s.stored(t); !reflect.DeepEqual(got, want) {
							t.Errorf("%T: %d orders came back, or they differ", db, len(got))
						}
						s.exec(t, `truncate orders, lines`)
					}
				})
			}
		}
	}
}

// Every column that PostgreSQL has gets the same from both methods as from pgx's
// own CopyFrom.
func TestLoadColumns(t *testing.T) {
	s := newShop(t, pgx.QueryExecModeCacheStatement, true, `create domain key as bigint check (value > 0);
		create type color as enum ('red', 'green');
		create table t (id bigint generated always as identity primary key, n int, s smallint, num numeric(20,0), txt text, vc varchar(30), dom key,
			doc jsonb, ts timestamptz, day date, flag boolean, raw bytea, u uuid, hue color, f float8, few bigint[])`)
	const columns = "id n s num txt vc dom doc ts day flag raw u hue f"
	rows := []row{
		{big, 1, int16(2), big, big, new(big), big, map[string]any{"a": 1}, time.Unix(1e9, 5000).UTC(), "2026-11-21", true, []byte{0, 1, 255},
			"6ba7b810-9dad-11d1-80b4-00c04fd430c8", "green", 1.5},
		{big + 1, nil, nil, NullID{}, nil, (*ID)(nil), nil, nil, nil, nil, nil, nil, nil, nil, nil},
		{big + 2, ID(7), ID(8), "12", "", "x", valid(7), `{"b": "1996573624012345677"}`, "2026-11-21 08:00:00+02", time.Unix(0, 0).UTC(), false, []byte{},
			[16]byte{1}, "red", float32(2)},
	}
	const read = `select string_agg(t::text, E'\n' order by id) from t`
	if _, err := s.pool.CopyFrom(t.Context(), pgx.Identifier{"t"}, strings.Fields(columns), pgx.CopyFromRows(rows)); err != nil {
		t.Fatal(err)
	}
	want := ask[string](t, s, read)
	for name, method := range methods {
		s.exec(t, `truncate t`)
		if _, err := pgxload.LoadWith(t.Context(), s.pool, pgxload.Config{Method: method}, writeRows("t", columns, rows...)); err != nil {
			t.Fatal(name, err)
		}
		if got := ask[string](t, s, read); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
		}
		_, err := pgxload.LoadWith(t.Context(), s.pool, pgxload.Config{Method: method}, writeRows("t", "id few", row{ID(1), []ID{1, 2}}))
		if method == pgxload.Copy && err != nil || method == pgxload.Unnest && (at(err).Column != "few" || !strings.Contains(err.Error(), "use Copy")) {
			t.Errorf("%s: an array column: %v", name, err)
		}
	}
}

// A type for which pgx has no codec is refused, unless the server reads text: pgx would send the
// binary form of the Go value, which is another value there.
func TestLoadUnknownTypes(t *testing.T) {
	s := newShop(t, pgx.QueryExecModeCacheStatement, true, `create extension citext;
		create type mood as enum ('sad', 'fine');
		create table u (id bigint primary key, name citext, hue mood, price money, pair point, state pg_snapshot)`)
	id := int64(0)
	for name, method := range methods {
		load := func(columns string, values ...any) error {
			_, err := pgxload.LoadWith(t.Context(), s.pool, pgxload.Config{Method: method}, writeRows("u", columns, values))
			return err
		}
		for _, v := range []struct{ name, hue any }{{big, "sad"}, {"Ann", new("fine")}, {new("Bob"), nil}, {nil, "fine"}} {
			id++
			if err := load("id name hue", id, v.name, v.hue); err != nil {
				t.Errorf("%s: %v: %v", name, v, err)
			}
		}
		for _, tt := range []struct {
			column, typ string
			value       any
		}{{"price", "money", "12345.67"}, {"price", "money", big}, {"state", "pg_snapshot", "10:20:10"}, {"state", "pg_snapshot", big}} {
			if err := load("id "+tt.column, int64(1000), tt.value); at(err).Column != tt.column || !strings.Contains(err.Error(), "pgx has no codec for its type "+tt.typ) {
				t.Errorf("%s: %v into %s: %v", name, tt.value, tt.column, err)
			}
		}
	}
	want := fmt.Sprintf("%[1]d sad, Ann fine, Bob -, - fine, %[1]d sad, Ann fine, Bob -, - fine", big)
	if got := ask[string](t, s, `select string_agg(coalesce(name::text, '-') || ' ' || coalesce(hue::text, '-'), ', ' order by id) from u`); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// The error of a type without a codec says how to register it. LoadType does
// not know hstore and ltree. Once registered, all values are right.
func TestLoadRegisteredTypes(t *testing.T) {
	s := newShop(t, pgx.QueryExecModeCacheStatement, true, `create extension hstore;
		create extension ltree;
		create type pair as (id bigint, note text);
		create type span as range (subtype = float8);
		create table u (id bigint, tags hstore, path ltree, one pair, many pair[], reach span)`)
	conn, err := s.pool.Acquire(t.Context())
	must(t, err)
	defer conn.Release()
	types := conn.Conn().TypeMap()
	load := func(method pgxload.Method, columns string, values ...any) error {
		_, err := pgxload.LoadWith(t.Context(), conn, pgxload.Config{Method: method}, writeRows("u", columns, values))
		return err
	}
	for name, method := range methods {
		for column, typ := range map[string]string{"tags": "hstore", "path": "ltree", "one": "pair", "many": "pair[]", "reach": "span"} {
			want := "pgx has no codec for its type " + typ + ": register one by RegisterType of each connection's TypeMap"
			if err := load(method, column, "x"); at(err).Column != column || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v\ndoes not contain %q", name, err, want)
			}
		}
	}
	for name, codec := range map[string]pgtype.Codec{"hstore": pgtype.HstoreCodec{}, "ltree": pgtype.LtreeCodec{}} {
		types.RegisterType(&pgtype.Type{Name: name, OID: ask[uint32](t, s, `select $1::text::regtype::oid`, name), Codec: codec})
	}
	for _, name := range []string{"pair", "pair[]", "span"} {
		loaded, err := conn.Conn().LoadType(t.Context(), name)
		must(t, err)
		types.RegisterType(loaded)
	}
	type pair struct {
		ID   ID
		Note *string
	}
	reach := pgtype.Range[float64]{Lower: 1, Upper: 2.5, LowerType: pgtype.Inclusive, UpperType: pgtype.Exclusive, Valid: true}
	for name, method := range methods {
		columns, values := "id tags path reach one many", row{1, pgtype.Hstore{"a": new("1"), "b": nil}, "top.sub", reach, pair{big, new("n")}, []pair{{big, nil}}}
		if method == pgxload.Unnest {
			if err := load(method, columns, values...); at(err).Column != "one" || !strings.Contains(err.Error(), "use Copy") {
				t.Errorf("%s: %v", name, err)
			}
			columns, values = "id tags path reach", values[:4]
		}
		if err := load(method, columns, values...); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	const want = `(1,"""a""=>""1"", ""b""=>NULL",top.sub,"(1996573624012345677,n)","{""(1996573624012345677,)""}","[1,2.5)"), (1,"""a""=>""1"", ""b""=>NULL",top.sub,,,"[1,2.5)")`
	if got := ask[string](t, s, `select string_agg(u::text, ', ' order by one) from u`); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// must ends the test if there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
