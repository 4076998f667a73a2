package pgxload_test

import (
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
	"github.com/seed-299c1d6b/snowkey/pgxtype/pgxload"
)

type person struct {
	ID    ID
	Email *string
	Name  string
	Pets  []ID
}

// No foreign key is declared: it is Load that keeps pets with their people.
const people = `create table people (id bigint primary key, email text unique, name text not null);
	create table pets (id bigint primary key, person_id bigint not null);
	insert into people values (1, 'a', 'Ann'), (2, 'b', 'Bob'), (3, null, 'Nil')`

var (
	byID    = pgxload.Conflict{Key: []string{"id"}}
	byEmail = pgxload.Conflict{Key: []string{"email"}}
)

func updating(c pgxload.Conflict, columns ...string) pgxload.Conflict { c.Update = columns; return c }

func writePeople(c pgxload.Conflict, again bool, all []person) writes {
	return func(w *pgxload.Writer) error {
		people, pets := w.Table("people", "id", "email", "name").OnConflict(c), w.Table("pets", "id", "person_id")
		if again {
			pets.OnConflict(byID)
		}
		for i := range all {
			p := &all[i]
			people.Row(&p.ID, p.Email, &p.Name)
			for _, pet := range p.Pets {
				pets.Row(pet, &p.ID)
			}
		}
		return nil
	}
}

// Existing rows are skipped or updated, and no child refers to a missing or a wrong row.
func TestLoadOnConflict(t *testing.T) {
	one := func(id ID, email, name string) person {
		p := person{ID: id, Name: name, Pets: []ID{100 + id}}
		if email != "" {
			p.Email = &email
		}
		return p
	}
	const before, same = "1 a Ann, 2 b Bob, 3 - Nil", "(email)=(a) is in the table under the primary key (1), not under (id)=(9)"
	for _, tt := range []struct {
		name   string
		c      pgxload.Conflict
		people []person
		tables []int64
		want   string // people after it
		row    int64
		shows  string // where it is refused
	}{
		{"skipped by key", byID, []person{one(1, "a", "x"), one(9, "i", "Ida")}, []int64{1, 2}, before + ", 9 i Ida", 0, ""},
		{"updated by key", updating(byID, "name"), []person{one(1, "z", "x"), one(9, "i", "Ida")}, []int64{2, 2}, "1 a x, 2 b Bob, 3 - Nil, 9 i Ida", 0, ""},
		{"all updated by key", updating(byID, "name", "email"), []person{one(1, "z", "x")}, []int64{1, 1}, "1 z x, 2 b Bob, 3 - Nil", 0, ""},
		{"skipped by email", byEmail, []person{one(9, "i", "Ida"), one(1, "a", "x")}, []int64{1, 2}, before + ", 9 i Ida", 0, ""},
		{"updated by email", updating(byEmail, "name"), []person{one(9, "i", "Ida"), one(1, "a", "x")}, []int64{2, 2}, "1 a x, 2 b Bob, 3 - Nil, 9 i Ida", 0, ""},
		{"NULL never collides", byEmail, []person{one(9, "", "Ida")}, []int64{1, 1}, before + ", 9 - Ida", 0, ""},
		{"email under another key", byEmail, []person{one(8, "h", "Hal"), one(9, "a", "x")}, nil, before, 1, same},
		{"updated email under another key", updating(byEmail, "name"), []person{one(8, "h", "Hal"), one(9, "a", "x")}, nil, before, 1, same},
		{"email and key of two rows", byEmail, []person{one(2, "a", "x")}, nil, before, 0, "(email)=(a) is in the table under the primary key (1), not under (id)=(2)"},
		{"key of another email", byEmail, []person{one(8, "h", "Hal"), one(2, "c", "x")}, nil, before, 1, "people_pkey"},
		{"email of another key", byID, []person{one(8, "h", "Hal"), one(7, "b", "x")}, nil, before, 1, "people_email_key"},
		{"twice in one load", byEmail, []person{one(8, "h", "Hal"), one(9, "h", "x")}, nil, before, 1, "(email)=(h) is in the table under the primary key (8), not under (id)=(9)"},
		{"the same twice", byID, []person{{ID: 8, Name: "Hal"}, {ID: 8, Name: "x"}}, []int64{1, 0}, before + ", 8 - Hal", 0, ""},
		{"the same updated twice", updating(byID, "name"), []person{{ID: 7, Name: "Gil"}, {ID: 8, Name: "Hal"}, {ID: 8, Name: "x"}}, nil, before, 2, "21000"},
		{"no such index", pgxload.Conflict{Key: []string{"name"}}, []person{one(8, "h", "Hal")}, nil, before, -1, "42P10"},
		{"the key itself updated", updating(byEmail, "id"), []person{one(8, "h", "Hal")}, nil, before, -1, "which Conflict.Update must not change"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for name, method := range methods {
				for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeCacheStatement, pgx.QueryExecModeSimpleProtocol} {
					s := newShop(t, mode, true, people)
					loaded, err := pgxload.LoadWith(t.Context(), s.pool, pgxload.Config{Method: method}, writePeople(tt.c, false, tt.people))
					switch e := at(err); {
					case tt.shows == "" && (err != nil || !reflect.DeepEqual(loaded.Tables, tt.tables)):
						t.Errorf("%s: %+v, %v", name, loaded, err)
					case tt.shows != "" && (e.Table != "people" || e.Row != tt.row || !strings.Contains(err.Error(), tt.shows)):
						t.Errorf("%s: %v", name, err)
					}
					if got := ask[string](t, s, `select string_agg(concat_ws(' ', id, coalesce(email, '-'), name), ', ' order by id) from people`); got != tt.want {
						t.Errorf("%s: %s; want %s", name, got, tt.want)
					}
					pets := s.ask(t, `select count(*) from pets`)
					if n := s.ask(t, `select count(*) from pets where person_id not in (select id from people)`); n != 0 || tt.shows != "" && pets != 0 {
						t.Errorf("%s: %d pets, of them %d without a person", name, pets, n)
					}
				}
			}
		})
	}
}

// A key of several columns, quoted names, a table without a primary key, and one whose key the server
// makes.
func TestLoadOnConflictKeys(t *testing.T) {
	s := newShop(t, pgx.QueryExecModeCacheStatement, true, `create table pairs (tenant bigint, id bigint, "K ey" text, kind int, primary key (id, tenant), unique (tenant, "K ey", kind));
	create table bare (id bigint unique, name text unique);
	create table made (id bigint generated always as identity primary key, name text unique)`)
	load := func(table string, columns, key []string, rows ...row) error {
		_, err := pgxload.Load(t.Context(), s.pool, func(w *pgxload.Writer) error {
			t := w.Table(table, columns...).OnConflict(pgxload.Conflict{Key: key})
			for _, row := range rows {
				t.Row(row...)
			}
			return nil
		})
		return err
	}
	pairs := func(key []string, rows ...row) error {
		return load(s.schema+".pairs", []string{"tenant", "id", "K ey", "kind"}, key, rows...)
	}
	primary, unique := []string{"tenant", "id"}, []string{"kind", "tenant", "K ey"}
	must(t, pairs(primary, row{1, 10, "a", 5}, row{1, 11, "b", nil}))
	for range 2 { // again, by either key
		if err := errors.Join(pairs(primary, row{1, 10, "z", 5}), pairs(unique, row{1, 10, "a", 5}, row{1, 12, "c", 5})); err != nil {
			t.Error(err)
		}
	}
	err := pairs(unique, row{2, 10, "a", 5}, row{1, 13, "a", 5})
	if text := fmt.Sprint(err); !strings.Contains(text, `row 1: column "kind": (kind, tenant, K ey)=(5, 1, a) is in the table under the primary key (1`) ||
		!strings.Contains(text, `(10, 1), not under (id, tenant)=(13, 1)`) && !strings.Contains(text, `(1, 10), not under (tenant, id)=(1, 13)`) {
		t.Error(err)
	}
	if n := s.ask(t, `select count(*) from pairs`); n != 3 {
		t.Errorf("%d rows", n)
	}
	for _, table := range []string{"bare", "made"} {
		for range 2 {
			if err := load(table, []string{"name"}, []string{"name"}, row{"a"}, row{"b"}, row{"a"}); err != nil {
				t.Errorf("%s: %v", table, err)
			}
		}
		if n := s.ask(t, `select count(*) from `+table); n != 2 {
			t.Errorf("%s: %d rows", table, n)
		}
	}
}

// Many connections load the same rows at the same time: each row is written once.
func TestLoadOnConflictTogether(t *testing.T) {
	s := newShop(t, pgx.QueryExecModeCacheStatement, true, strings.Split(people, ";\n\tinsert")[0])
	var all []person
	for id := ID(1000); id < 1200; id++ {
		all = append(all, person{id, new(fmt.Sprint("mail ", id)), "x", []ID{10 * id, 10*id + 1, 10*id + 2}})
	}
	var wg sync.WaitGroup
	for w := range 6 {
		wg.Go(func() {
			mine, c := slices.Clone(all), byEmail
			if w%2 == 1 { // the other way round, so that they meet
				slices.Reverse(mine)
			}
			if w%3 == 0 {
				c.Update = []string{"name"}
			}
			for range 50 {
				err := pgxload.RetryWith(t.Context(), s.pool, pgxload.RetryConfig{Attempts: 50}, func(tx pgx.Tx) error {
					_, err := pgxload.LoadWith(t.Context(), tx, pgxload.Config{ChunkBytes: 1000, Method: pgxload.Method(w % 2)}, writePeople(c, true, mine))
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

// A Key that the database changes as it stores the row is no collision. A row that is not stored is
// an error if others may refer to it.
func TestLoadOnConflictOfChangedKeys(t *testing.T) {
	s := newShop(t, pgx.QueryExecModeCacheStatement, true, `create table prices (id bigint primary key, k numeric(6,2) unique);
	create table times (id bigint primary key, k timestamptz(0) unique);
	create table codes (id bigint primary key, k char(4) unique);
	create table names (id bigint primary key, k varchar(4) unique);
	create table mails (id bigint primary key, k text unique);
	create table drops (id bigint primary key, k text unique);
	create table subs (id bigint primary key, up bigint);
	create function lowers() returns trigger language plpgsql as 'begin new.k = lower(new.k); return new; end';
	create trigger lowers before insert on mails for each row execute function lowers();
	create function drops() returns trigger language plpgsql as 'begin return null; end';
	create trigger drops before insert on drops for each row execute function drops()`)
	load := func(table string, children bool, id ID, key any) error {
		_, err := pgxload.Load(t.Context(), s.pool, func(w *pgxload.Writer) error {
			w.Table(table, "id", "k").OnConflict(pgxload.Conflict{Key: []string{"k"}}).Row(id, key)
			if children {
				w.Table("subs", "id", "up").Row(id+1000, id)
			}
			return nil
		})
		return err
	}
	at := time.Date(2026, 5, 4, 3, 2, 1, 600_000_000, time.UTC)
	for table, key := range map[string]any{"prices": "1.006", "times": at, "codes": "ab  ", "names": "ab      ", "mails": "Ann@X", "drops": "x"} {
		for _, children := range []bool{false, true} {
			s.exec(t, "truncate subs, "+table)
			err := load(table, children, 1, key)
			if wrong := children && table == "drops"; (err != nil) != wrong || wrong && !strings.Contains(err.Error(), "is not in the table") {
				t.Errorf("%s, children %t: %v", table, children, err)
			}
			if table == "drops" {
				continue
			}
			err = load(table, children, 2, key) // collides: its key is another, or not there
			if n := s.ask(t, "select count(*) from "+table); n != 1 || children && err == nil {
				t.Errorf("%s again, children %t: %d rows, %v", table, children, n, err)
			}
		}
	}
}

// A row that Load's statement skipped, or that a trigger dropped or changed, leaves no child that refers to
// nothing, in any relation: Load fails if a table follows that may have one.
func TestLoadOnConflictKeepsChildren(t *testing.T) {
	const trigger = `create function f() returns trigger language plpgsql as 'begin %s end'; create trigger f before insert on r for each row execute function f()`
	for _, tt := range []struct {
		name, ddl string
		conflict  *pgxload.Conflict
		columns   string
		shows     string // none: the child is right
	}{
		{"view", `create table base (id bigint primary key, k text unique); create view r as select * from base`, &pgxload.Conflict{Key: []string{"k"}}, "id k", "needs its whole primary key"},
		{"view by id", `create table base (id bigint primary key, k text); create view r as select * from base`, &byID, "id k", "needs its whole primary key"},
		{"unique id", `create table r (id bigint unique, k text unique)`, &pgxload.Conflict{Key: []string{"k"}}, "id k", "needs its whole primary key"},
		{"updated id", `create table r (id bigint unique, k text unique)`, &pgxload.Conflict{Key: []string{"k"}, Update: []string{"id"}}, "id k", "needs its whole primary key"},
		{"another primary key", `create table r (n bigint generated always as identity primary key, id bigint unique, k text unique)`, &pgxload.Conflict{Key: []string{"k"}}, "id k", "needs its whole primary key"},
		{"half the primary key", `create table r (id bigint, n int default 0, k text unique, primary key (id, n))`, &pgxload.Conflict{Key: []string{"k"}}, "id k", "needs its whole primary key"},
		{"primary key, drops", `create table r (id bigint primary key, k text);` + fmt.Sprintf(trigger, "return null;"), &byID, "id k", "(id)=(9) is not in the table"},
		{"primary key, changes", `create table r (id bigint primary key, k text);` + fmt.Sprintf(trigger, "new.id = new.id + 1; return new;"), &byID, "id k", "(id)=(9) is not in the table"},
		{"primary key, updates and drops", `create table r (id bigint primary key, k text);` + fmt.Sprintf(trigger, "return null;"), &pgxload.Conflict{Key: []string{"id"}, Update: []string{"k"}}, "id k", "(id)=(9) is not in the table"},
		{"no conflict, drops", `create table r (id bigint primary key, k text);` + fmt.Sprintf(trigger, "return null;"), nil, "id k", "(id)=(9) is not in the table"},
		{"another key, changes", `create table r (id bigint primary key, k text unique);` + fmt.Sprintf(trigger, "new.k = ''y''; return new;"), &pgxload.Conflict{Key: []string{"k"}}, "id k", "(k)=(x) is not in the table"},
		{"primary key", `create table r (id bigint primary key, k text); insert into r values (9, 'y')`, &byID, "id k", ""},
		{"moves to a child", `create table r (id bigint primary key, k text); create table old () inherits (r);` + fmt.Sprintf(trigger, "insert into old values (new.*); return null;"), nil, "id k", ""},
		{"inserts", `create table r (id bigint primary key, k text)`, nil, "id k", ""},
	} {
		for name, method := range methods {
			for _, late := range []bool{false, true} {
				s := newShop(t, pgx.QueryExecModeCacheStatement, true, `create table subs (id bigint primary key, up bigint)`)
				s.exec(t, tt.ddl)
				if strings.Contains(tt.ddl, "k text unique") {
					into := "r"
					if strings.Contains(tt.ddl, "base") {
						into = "base"
					}
					s.exec(t, `insert into `+into+` (id, k) values (1, 'x')`)
				}
				load := func(children bool) error {
					_, err := pgxload.LoadWith(t.Context(), s.pool, pgxload.Config{Method: method, ChunkBytes: 1}, func(w *pgxload.Writer) error {
						parents := w.Table("r", strings.Fields(tt.columns)...)
						if tt.conflict != nil {
							parents.OnConflict(*tt.conflict)
						}
						if children && !late {
							w.Table("subs", "id", "up").Row(100, 9)
						}
						parents.Row(9, "x")
						if children && late {
							w.Table("subs", "id", "up").Row(100, 9)
						}
						return nil
					})
					return err
				}
				err := load(true)
				if tt.shows == "" && err != nil || tt.shows != "" && (at(err).Table != "r" || !strings.Contains(err.Error(), tt.shows)) {
					t.Errorf("%s, %s, late %t: %v", tt.name, name, late, err)
				}
				if n := s.ask(t, `select count(*) from subs where up not in (select id from r)`); n != 0 {
					t.Errorf("%s, %s, late %t: %d children refer to nothing", tt.name, name, late, n)
				}
				if err := load(false); tt.shows != "" && err != nil { // nothing follows that may refer to the row
					t.Errorf("%s, %s, alone: %v", tt.name, name, err)
				}
			}
		}
	}
}

// Load prepares no statement by name, in no mode: a connection of PgBouncer is another one in each
// transaction.
func TestLoadUnprepared(t *testing.T) {
	s := newShop(t, pgx.QueryExecModeCacheStatement, true, `create type tone as enum ('low', 'high');
	create table people (id bigint primary key, email text unique, hue tone, up bigint references people)`)
	name := s.schema + ".people"
	load := func(db pgxload.Beginner, method pgxload.Method, id int) error {
		_, err := pgxload.LoadWith(t.Context(), db, pgxload.Config{Method: method, ChunkBytes: 1}, func(w *pgxload.Writer) error {
			w.Table(name, "id", "email", "hue").OnConflict(byEmail).Row(id, fmt.Sprint(id), "low")
			w.Table(name, "id", "hue", "up").Row(id+1000, "high", id)
			return nil
		})
		return err
	}
	for i, mode := range modes {
		for _, method := range methods {
			tx, n := newShop(t, mode, true, "select 1").begin(t), 0
			if err := load(tx, method, 2000+2*i+int(method)); err != nil {
				t.Error(err)
			} else if err := tx.QueryRow(t.Context(), `select count(*) from pg_prepared_statements`, pgx.QueryExecModeExec).Scan(&n); err != nil || n != 0 {
				t.Errorf("%v, %v: %d prepared statements, %v", mode, method, n, err)
			}
		}
	}
	pooler := testserver.NewPgBouncer(t, testserver.Postgres(t), "pool_mode = transaction", "default_pool_size = 2", "ignore_startup_parameters = extra_float_digits")
	var wg sync.WaitGroup
	for w := range 4 { // each with a separate client, and so with separate names
		wg.Go(func() {
			pool, err := pgxpool.New(t.Context(), pooler.DSN)
			if err != nil {
				t.Error(err)
				return
			}
			defer pool.Close()
			for i := range 8 {
				for name, method := range methods {
					if err := load(pool, method, 100*w+2*i+int(method)); err != nil {
						t.Errorf("%s: %v", name, err)
					}
				}
			}
		})
	}
	wg.Wait()
	if n := s.ask(t, `select count(*) from people`); n != 2*64 {
		t.Errorf("%d rows", n)
	}
}
