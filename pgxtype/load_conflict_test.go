package pgxtype_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/pgxtype"
)

type part struct {
	ID, LineID ID
	Name       string
	Serials    []serial
}

type serial struct {
	ID, PartID ID
}

type deepLine struct {
	ID, OrderID ID
	Parts       []part
}

type deepOrder struct {
	ID    ID
	Lines []deepLine
}

// Tables of any depth need no list that is joined by hand.
func TestLoadNested(t *testing.T) {
	const ddl = `create table orders (id bigint primary key);
	create table lines (id bigint primary key, order_id bigint not null references orders);
	create table parts (id bigint primary key, line_id bigint not null references lines, name text check (name <> 'bad'));
	create table serials (id bigint primary key, part_id bigint not null references parts)`
	lines := func(o *deepOrder) []deepLine { return o.Lines }
	parts := func(l *deepLine) []part { return l.Parts }
	tables := []pgxtype.Table[deepOrder]{
		pgxtype.ParentTable(pgx.Identifier{"orders"}, []string{"id"}, func(o *deepOrder, row []any) []any { return append(row, &o.ID) }),
		pgxtype.ChildTable(pgx.Identifier{"lines"}, []string{"id", "order_id"}, lines, func(l *deepLine, row []any) []any { return append(row, &l.ID, &l.OrderID) }),
		pgxtype.Nested(lines, pgxtype.ChildTable(pgx.Identifier{"parts"}, []string{"id", "line_id", "name"}, parts,
			func(p *part, row []any) []any { return append(row, &p.ID, &p.LineID, &p.Name) })),
		pgxtype.Nested(lines, pgxtype.Nested(parts, pgxtype.ChildTable(pgx.Identifier{"serials"}, []string{"id", "part_id"}, func(p *part) []serial { return p.Serials },
			func(s *serial, row []any) []any { return append(row, &s.ID, &s.PartID) }))),
	}
	key := ID(0)
	next := func() ID { key++; return key }
	var orders []deepOrder
	for i := range 20 {
		o := deepOrder{ID: next()}
		for range i % 4 {
			l := deepLine{ID: next(), OrderID: o.ID}
			for range 1 + i%3 {
				p := part{ID: next(), LineID: l.ID}
				for range i % 3 {
					p.Serials = append(p.Serials, serial{next(), p.ID})
				}
				l.Parts = append(l.Parts, p)
			}
			o.Lines = append(o.Lines, l)
		}
		orders = append(orders, o)
	}
	for name, method := range methods {
		s := newShop(t, pgx.QueryExecModeCacheStatement, true, ddl)
		cfg := pgxtype.LoadConfig[deepOrder]{Tables: tables, Method: method, ChunkRows: 25}
		loaded, err := pgxtype.Load(t.Context(), s.pool, pgxtype.Seq(slices.Values(orders)), cfg)
		if want := []int64{20, 30, 58, 74}; err != nil || !reflect.DeepEqual(loaded.Tables, want) {
			t.Fatalf("%s: %+v, %v", name, loaded, err)
		}
		if n := s.ask(t, `select count(*) from serials s join parts p on p.id = s.part_id join lines l on l.id = p.line_id join orders o on o.id = l.order_id where o.id < l.id and l.id < p.id and p.id < s.id`); n != 74 {
			t.Errorf("%s: %d serials have an order", name, n)
		}
		if _, err := s.pool.Exec(t.Context(), `truncate orders, lines, parts, serials`); err != nil {
			t.Fatal(err)
		}
		orders[11].Lines[2].Parts[1].Name = "bad"
		_, err = pgxtype.Load(t.Context(), s.pool, pgxtype.Seq(slices.Values(orders)), cfg)
		var at *pgxtype.LoadError
		if !errors.As(err, &at) || at.Table[0] != "parts" || at.Parent != 11 || at.Row < 0 {
			t.Errorf("%s: %v", name, err)
		}
		orders[11].Lines[2].Parts[1].Name = ""
	}
	_, err := pgxtype.Load(t.Context(), nil, nil, pgxtype.LoadConfig[deepOrder]{Tables: []pgxtype.Table[deepOrder]{
		pgxtype.Nested(lines, pgxtype.Table[deepLine]{}),
		pgxtype.Nested[deepOrder, deepLine](nil, pgxtype.ParentTable(pgx.Identifier{"t"}, []string{"id"}, func(_ *deepLine, row []any) []any { return row })),
	}})
	if err == nil || !strings.Contains(err.Error(), "Tables[0] nil: is the zero Table") || !strings.Contains(err.Error(), "Tables[1].list nil: is required") {
		t.Error(err)
	}
}

type person struct {
	ID    ID
	Email *string
	Name  string
	Pets  []pet
}

type pet struct{ ID, PersonID ID }

func peopleTables(c pgxtype.Conflict, pets *pgxtype.Conflict) []pgxtype.Table[person] {
	tables := []pgxtype.Table[person]{
		pgxtype.ParentTable(pgx.Identifier{"people"}, []string{"id", "email", "name"}, func(p *person, row []any) []any { return append(row, &p.ID, p.Email, &p.Name) }).OnConflict(c),
		pgxtype.ChildTable(pgx.Identifier{"pets"}, []string{"id", "person_id"}, func(p *person) []pet { return p.Pets }, func(p *pet, row []any) []any { return append(row, &p.ID, &p.PersonID) }),
	}
	if pets != nil {
		tables[1] = tables[1].OnConflict(*pets)
	}
	return tables
}

// No foreign key is declared: it is Load that keeps pets with their people.
const people = `create table people (id bigint primary key, email text unique, name text not null);
	create table pets (id bigint primary key, person_id bigint not null);
	insert into people values (1, 'a', 'Ann'), (2, 'b', 'Bob'), (3, null, 'Nil')`

// Existing rows are skipped or updated, and no child refers to a missing or a wrong row.
func TestLoadOnConflict(t *testing.T) {
	byID, byEmail := pgxtype.Conflict{Key: []string{"id"}}, pgxtype.Conflict{Key: []string{"email"}}
	updating := func(c pgxtype.Conflict, columns ...string) pgxtype.Conflict { c.Update = columns; return c }
	one := func(id ID, email, name string) person {
		p := person{ID: id, Name: name, Pets: []pet{{100 + id, id}}}
		if email != "" {
			p.Email = &email
		}
		return p
	}
	for _, tt := range []struct {
		name   string
		c      pgxtype.Conflict
		people []person
		tables []int64
		want   string // people after it
		row    int64
		shows  string // where it is refused
	}{
		{"skipped by key", byID, []person{one(1, "a", "x"), one(9, "i", "Ida")}, []int64{1, 2}, "1 a Ann, 2 b Bob, 3 - Nil, 9 i Ida", 0, ""},
		{"updated by key", updating(byID, "name"), []person{one(1, "z", "x"), one(9, "i", "Ida")}, []int64{2, 2}, "1 a x, 2 b Bob, 3 - Nil, 9 i Ida", 0, ""},
		{"all updated by key", updating(byID, "name", "email"), []person{one(1, "z", "x")}, []int64{1, 1}, "1 z x, 2 b Bob, 3 - Nil", 0, ""},
		{"skipped by email", byEmail, []person{one(9, "i", "Ida"), one(1, "a", "x")}, []int64{1, 2}, "1 a Ann, 2 b Bob, 3 - Nil, 9 i Ida", 0, ""},
		{"updated by email", updating(byEmail, "name"), []person{one(9, "i", "Ida"), one(1, "a", "x")}, []int64{2, 2}, "1 a x, 2 b Bob, 3 - Nil, 9 i Ida", 0, ""},
		{"NULL never collides", byEmail, []person{one(9, "", "Ida")}, []int64{1, 1}, "1 a Ann, 2 b Bob, 3 - Nil, 9 - Ida", 0, ""},
		{"email under another key", byEmail, []person{one(8, "h", "Hal"), one(9, "a", "x")}, nil, "", 1, "(email)=(a) is in the table under the primary key (1), not under (id)=(9)"},
		{"updated email under another key", updating(byEmail, "name"), []person{one(8, "h", "Hal"), one(9, "a", "x")}, nil, "", 1, "(email)=(a) is in the table under the primary key (1), not under (id)=(9)"},
		{"email and key of two rows", byEmail, []person{one(2, "a", "x")}, nil, "", 0, "(email)=(a) is in the table under the primary key (1), not under (id)=(2)"},
		{"key of another email", byEmail, []person{one(8, "h", "Hal"), one(2, "c", "x")}, nil, "", 1, "people_pkey"},
		{"email of another key", byID, []person{one(8, "h", "Hal"), one(7, "b", "x")}, nil, "", 1, "people_email_key"},
		{"twice in one load", byEmail, []person{one(8, "h", "Hal"), one(9, "h", "x")}, nil, "", 1, "(email)=(h) is in the table under the primary key (8), not under (id)=(9)"},
		{"the same twice", byID, []person{{ID: 8, Name: "Hal"}, {ID: 8, Name: "x"}}, []int64{1, 0}, "1 a Ann, 2 b Bob, 3 - Nil, 8 - Hal", 0, ""},
		{"the same updated twice", updating(byID, "name"), []person{{ID: 7, Name: "Gil"}, {ID: 8, Name: "Hal"}, {ID: 8, Name: "x"}}, nil, "", 2, "21000"},
		{"no such index", pgxtype.Conflict{Key: []string{"name"}}, []person{one(8, "h", "Hal")}, nil, "", -1, "42P10"},
		{"the key itself updated", updating(byEmail, "id"), []person{one(8, "h", "Hal")}, nil, "", -1, "which Conflict.Update must not change"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for name, method := range methods {
				for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeCacheStatement, pgx.QueryExecModeSimpleProtocol} {
					s := newShop(t, mode, true, people)
					loaded, err := pgxtype.Load(t.Context(), s.pool, pgxtype.Seq(slices.Values(tt.people)), pgxtype.LoadConfig[person]{Tables: peopleTables(tt.c, nil), Method: method})
					want := tt.want
					if tt.shows != "" {
						want = "1 a Ann, 2 b Bob, 3 - Nil"
						var at *pgxtype.LoadError
						if !errors.As(err, &at) || at.Table[0] != "people" || at.Row != tt.row || at.Parent != tt.row || !strings.Contains(err.Error(), tt.shows) {
							t.Errorf("%s, %s: %v", name, tt.name, err)
						}
					} else if err != nil || !reflect.DeepEqual(loaded.Tables, tt.tables) {
						t.Errorf("%s, %s: %+v, %v", name, tt.name, loaded, err)
					}
					var got string
					if err := s.pool.QueryRow(t.Context(), `select string_agg(concat_ws(' ', id, coalesce(email, '-'), name), ', ' order by id) from people`).Scan(&got); err != nil || got != want {
						t.Errorf("%s, %s: %s, %v; want %s", name, tt.name, got, err, want)
					}
					if n := s.ask(t, `select count(*) from pets where person_id not in (select id from people)`); n != 0 {
						t.Errorf("%s, %s: %d pets without a person", name, tt.name, n)
					}
					if n := s.ask(t, `select count(*) from pets`); tt.shows != "" && n != 0 {
						t.Errorf("%s, %s: %d pets stayed", name, tt.name, n)
					}
				}
			}
		})
	}
}

// A key of several columns, quoted names, a unique index in which NULLs collide, a
// table without a primary key, and one whose key the server makes.
func TestLoadOnConflictKeys(t *testing.T) {
	s := newShop(t, pgx.QueryExecModeCacheStatement, true, `create table pairs (tenant bigint, id bigint, "K ey" text, kind int, primary key (id, tenant), unique (tenant, "K ey", kind));
	create table bare (id bigint unique, name text unique);
	create table made (id bigint generated always as identity primary key, name text unique)`)
	type row struct {
		Tenant, ID ID
		Key        string
		Kind       *int
	}
	columns := []string{"tenant", "id", "K ey", "kind"}
	values := func(r *row, out []any) []any { return append(out, &r.Tenant, &r.ID, &r.Key, r.Kind) }
	load := func(key []string, rows ...row) error {
		_, err := pgxtype.Load(t.Context(), s.pool, pgxtype.Seq(slices.Values(rows)), pgxtype.LoadConfig[row]{Tables: []pgxtype.Table[row]{
			pgxtype.ParentTable(pgx.Identifier{s.schema, "pairs"}, columns, values).OnConflict(pgxtype.Conflict{Key: key})}})
		return err
	}
	kind, unique := ptr(5), []string{"kind", "tenant", "K ey"}
	if err := load([]string{"tenant", "id"}, row{1, 10, "a", kind}, row{1, 11, "b", nil}); err != nil {
		t.Fatal(err)
	}
	for range 2 { // again, by either key
		if err := errors.Join(load([]string{"tenant", "id"}, row{1, 10, "z", kind}), load(unique, row{1, 10, "a", kind}, row{1, 12, "c", kind})); err != nil {
			t.Error(err)
		}
	}
	if err := load(unique, row{2, 10, "a", kind}, row{1, 13, "a", kind}); err == nil || !strings.Contains(err.Error(), `row 1 of parent 1: column "kind": (kind, tenant, K ey)=(5, 1, a) is in the table under the primary key (10, 1), not under (id, tenant)=(13, 1)`) &&
		!strings.Contains(err.Error(), `(kind, tenant, K ey)=(5, 1, a) is in the table under the primary key (1, 10), not under (tenant, id)=(1, 13)`) {
		t.Error(err)
	}
	if n := s.ask(t, `select count(*) from pairs`); n != 3 {
		t.Errorf("%d rows", n)
	}
	if s.ask(t, `select current_setting('server_version_num')::bigint`) >= 150000 {
		if _, err := s.pool.Exec(t.Context(), `create table nulls (id bigint primary key, n bigint unique nulls not distinct); insert into nulls values (1, null)`); err != nil {
			t.Fatal(err)
		}
		_, err := pgxtype.Load(t.Context(), s.pool, pgxtype.Seq(slices.Values([]ID{1, 2})), pgxtype.LoadConfig[ID]{Tables: []pgxtype.Table[ID]{
			pgxtype.ParentTable(pgx.Identifier{"nulls"}, []string{"id", "n"}, func(id *ID, row []any) []any { return append(row, id, nil) }).OnConflict(pgxtype.Conflict{Key: []string{"n"}})}})
		if n := s.ask(t, `select count(*) from nulls`); err != nil || n != 1 {
			t.Errorf("NULLs that collide, to which no table of the load refers: %d rows, %v", n, err)
		}
	}
	for _, table := range []string{"bare", "made"} {
		for range 2 {
			loaded, err := pgxtype.Load(t.Context(), s.pool, pgxtype.Seq(slices.Values([]string{"a", "b", "a"})), pgxtype.LoadConfig[string]{Tables: []pgxtype.Table[string]{
				pgxtype.ParentTable(pgx.Identifier{table}, []string{"name"}, func(name *string, row []any) []any { return append(row, name) }).OnConflict(pgxtype.Conflict{Key: []string{"name"}})}})
			if err != nil {
				t.Errorf("%s: %+v, %v", table, loaded, err)
			}
		}
		if n := s.ask(t, `select count(*) from `+table); n != 2 {
			t.Errorf("%s: %d rows", table, n)
		}
	}
	_, err := pgxtype.Load(t.Context(), nil, nil, pgxtype.LoadConfig[row]{Tables: []pgxtype.Table[row]{
		pgxtype.ParentTable(pgx.Identifier{"t"}, columns, values).OnConflict(pgxtype.Conflict{}),
		pgxtype.ParentTable(pgx.Identifier{"t"}, columns, values).OnConflict(pgxtype.Conflict{Key: []string{"id", "x", "id"}, Update: []string{"id", "y"}}),
	}})
	for _, want := range []string{"Tables[0].Conflict.Key nil: is required", `Tables[1].Conflict.Key "x": is not a column`, `Tables[1].Conflict.Key "id": must be unique`, `Tables[1].Conflict.Update "id": must not be in Key`, `Tables[1].Conflict.Update "y": is not a column`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\ndoes not contain %q", err, want)
		}
	}
}

// Many connections load the same rows at the same time: each row is written once.
func TestLoadOnConflictTogether(t *testing.T) {
	s := newShop(t, pgx.QueryExecModeCacheStatement, true, strings.Split(people, ";\n\tinsert")[0])
	var all []person
	for i := range ID(200) {
		p := person{ID: 1000 + i, Email: ptr(fmt.Sprint("mail ", i)), Name: "x"}
		for j := range ID(3) {
			p.Pets = append(p.Pets, pet{10*p.ID + j, p.ID})
		}
		all = append(all, p)
	}
	pets := pgxtype.Conflict{Key: []string{"id"}}
	var wg sync.WaitGroup
	for w := range 6 {
		wg.Go(func() {
			mine := slices.Clone(all)
			if w%2 == 1 { // the other way round, so that they meet
				slices.Reverse(mine)
			}
			c := pgxtype.Conflict{Key: []string{"email"}}
			if w%3 == 0 {
				c.Update = []string{"name"}
			}
			for range 50 {
				err := pgxtype.Retry(t.Context(), s.pool, pgxtype.RetryConfig{Attempts: 50}, func(tx pgx.Tx) error {
					_, err := pgxtype.Load(t.Context(), tx, pgxtype.Seq(slices.Values(mine)), pgxtype.LoadConfig[person]{Tables: peopleTables(c, &pets), ChunkRows: 40, Method: pgxtype.Method(w % 2)})
					return err
				})
				// PostgreSQL looks for a conflict in the index of Key only. It finds a row that
				// another connection inserts at the same moment by the primary key, at times.
				var refused *pgconn.PgError
				if errors.As(err, &refused) && refused.Code == "23505" && refused.ConstraintName == "people_pkey" {
					continue
				}
				if err != nil {
					t.Error(err)
				}
				return
			}
			t.Error("refused 50 times")
		})
	}
	wg.Wait()
	if n := s.ask(t, `select (select count(*) from people) * 1000 + (select count(*) from pets p join people on people.id = person_id)`); n != 200_600 {
		t.Errorf("%d", n)
	}
}

// tracer notes the tables that were copied.
type tracer struct{ seen []string }

func (*tracer) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}
func (*tracer) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (r *tracer) TraceCopyFromStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceCopyFromStartData) context.Context {
	r.seen = append(r.seen, fmt.Sprint(data.TableName, data.ColumnNames))
	return ctx
}

func (r *tracer) TraceCopyFromEnd(_ context.Context, _ *pgx.Conn, data pgx.TraceCopyFromEndData) {
	r.seen = append(r.seen, fmt.Sprint(data.CommandTag, data.Err == nil))
}

// Load calls a tracer of pgx for each COPY, like CopyFrom.
func TestLoadTraced(t *testing.T) {
	s := newShop(t, pgx.QueryExecModeCacheStatement, true, `create table t (id bigint primary key)`)
	config := s.pool.Config().ConnConfig
	traced := &tracer{}
	config.Tracer = traced
	conn, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	cfg := pgxtype.LoadConfig[ID]{Tables: []pgxtype.Table[ID]{pgxtype.ParentTable(pgx.Identifier{"t"}, []string{"id"}, func(id *ID, row []any) []any { return append(row, id) })}}
	_, err = pgxtype.Load(t.Context(), conn, pgxtype.Seq(slices.Values([]ID{1, 2})), cfg)
	_, twice := pgxtype.Load(t.Context(), conn, pgxtype.Seq(slices.Values([]ID{1})), cfg)
	if want := []string{"[t] [id]", "COPY 2 true", "[t] [id]", " false"}; err != nil || twice == nil || !slices.Equal(traced.seen, want) {
		t.Errorf("%q, %v, %v", traced.seen, err, twice)
	}
}

// A Key that the database changes as it stores the row is no collision. A row that is not stored is
// an error if others may refer to it.
func TestLoadOnConflictOfChangedKeys(t *testing.T) {
	s := newShop(t, pgx.QueryExecModeCacheStatement, true, `create table prices (id bigint primary key, k numeric(6,2) unique);
	create table times (id bigint primary key, k timestamptz(0) unique);
	create table codes (id bigint primary key, k char(4) unique);
	create table mails (id bigint primary key, k text unique);
	create table drops (id bigint primary key, k text unique);
	create table subs (id bigint primary key, up bigint);
	create function lowers() returns trigger language plpgsql as 'begin new.k = lower(new.k); return new; end';
	create trigger lowers before insert on mails for each row execute function lowers();
	create function drops() returns trigger language plpgsql as 'begin return null; end';
	create trigger drops before insert on drops for each row execute function drops()`)
	type row struct {
		ID ID
		K  any
	}
	load := func(table string, children bool, rows ...row) error {
		cfg := pgxtype.LoadConfig[row]{Tables: []pgxtype.Table[row]{
			pgxtype.ParentTable(pgx.Identifier{table}, []string{"id", "k"}, func(r *row, out []any) []any { return append(out, r.ID, r.K) }).OnConflict(pgxtype.Conflict{Key: []string{"k"}}),
		}}
		if children {
			cfg.Tables = append(cfg.Tables, pgxtype.ParentTable(pgx.Identifier{"subs"}, []string{"id", "up"}, func(r *row, out []any) []any { return append(out, r.ID+1000, r.ID) }))
		}
		_, err := pgxtype.Load(t.Context(), s.pool, pgxtype.Seq(slices.Values(rows)), cfg)
		return err
	}
	at := time.Date(2026, 5, 4, 3, 2, 1, 600_000_000, time.UTC)
	for i, tt := range []struct {
		table  string
		key    any
		stored bool
	}{{"prices", "1.006", true}, {"times", at, true}, {"codes", "ab  ", true}, {"mails", "Ann@X", true}, {"drops", "x", false}} {
		for _, children := range []bool{false, true} {
			if _, err := s.pool.Exec(t.Context(), "truncate subs, "+tt.table); err != nil {
				t.Fatal(err)
			}
			id := ID(10*i + 1)
			err := load(tt.table, children, row{id, tt.key})
			if wrong := children && !tt.stored; (err != nil) != wrong || wrong && !strings.Contains(err.Error(), "is not in the table") {
				t.Errorf("%s, children %t: %v", tt.table, children, err)
			}
			if !tt.stored {
				continue
			}
			err = load(tt.table, children, row{id + 1, tt.key}) // collides: its key is another, or not there
			if n := s.ask(t, "select count(*) from "+tt.table); n != 1 || children && err == nil {
				t.Errorf("%s again, children %t: %d rows, %v", tt.table, children, n, err)
			}
		}
	}
}

// A connection of PgBouncer is another one in each transaction: no look-up prepares a statement there.
func TestLoadThroughPgBouncer(t *testing.T) {
	s := newShop(t, pgx.QueryExecModeCacheStatement, true, `create type tone as enum ('low', 'high');
	create table people (id bigint primary key, email text unique, hue tone)`)
	pooler := testserver.NewPgBouncer(t, testserver.Postgres(t), "pool_mode = transaction", "default_pool_size = 2", "ignore_startup_parameters = extra_float_digits")
	type row struct {
		ID    ID
		Email string
	}
	var wg sync.WaitGroup
	for w := range 4 { // each with a client of its own, and so with names of its own
		wg.Go(func() {
			pool, err := pgxpool.New(t.Context(), pooler.DSN)
			if err != nil {
				t.Error(err)
				return
			}
			defer pool.Close()
			for i := range 8 {
				id := ID(100*w + i + 1)
				for name, method := range methods {
					if _, err := pgxtype.Load(t.Context(), pool, pgxtype.Seq(slices.Values([]row{{id, id.String()}})), pgxtype.LoadConfig[row]{Method: method, Tables: []pgxtype.Table[row]{
						pgxtype.ParentTable(pgx.Identifier{s.schema, "people"}, []string{"id", "email", "hue"}, func(r *row, out []any) []any { return append(out, r.ID, r.Email, "low") }).OnConflict(pgxtype.Conflict{Key: []string{"email"}}),
					}}); err != nil {
						t.Errorf("%s: %v", name, err)
					}
				}
			}
		})
	}
	wg.Wait()
	if n := s.ask(t, `select count(*) from people`); n != 32 {
		t.Errorf("%d rows", n)
	}
}
