package pgxtype_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/seed-299c1d6b/snowkey/pgxtype"
)

type blameRow struct {
	ID, N ID
	A, B  *string
}

// The row that is named is at fault, or none is.
func TestLoadBlame(t *testing.T) {
	const rows = `create table r (id bigint primary key, n bigint, a text, b text);
	`
	trigger := func(when, body string) string {
		return rows + `create table audit (id bigint primary key, n bigint not null);
	create function f() returns trigger language plpgsql as $$ begin ` + body + ` return new; end $$;
	create trigger f ` + when + ` insert on r for each row execute function f()`
	}
	text := func(values ...string) (out []blameRow) {
		for i := 0; i < len(values); i += 2 {
			r := blameRow{ID: ID(i + 1), A: &values[i], B: &values[i+1]}
			if values[i] == "NULL" {
				r.A = nil
			}
			out = append(out, r)
		}
		return out
	}
	five := []blameRow{{ID: 3, N: 10}, {ID: 4, N: 3}, {ID: 5, N: 3}, {ID: 6, N: 77}, {ID: 7, N: 8}}
	const pairs = `create table p (a text, b text, primary key (a, b)); insert into p values ('x, y', 'z');
	create table r (id bigint primary key, n bigint, a text, b text, foreign key (a, b) references p)`
	for _, tt := range []struct {
		name, ddl string
		rows      []blameRow
		row       int64 // by Copy; -2 - row: only by Unnest, which tries
		column    string
		state     string
	}{
		// id 3 is not at fault: it is the audit's.
		{"key of another table", trigger("after", `insert into audit values (new.n, 1);`), five, -4, "", "23505"},
		{"key of another table, before", trigger("before", `insert into audit values (new.n, 1);`), five, 2, "", "23505"},
		{"column of another table", trigger("before", `if new.n = 77 then insert into audit values (1, null); end if;`), five, 3, "", "23502"},
		{"column of another table, after", trigger("after", `if new.n = 77 then insert into audit values (1, null); end if;`), five, -5, "", "23502"},
		{"partition", `create table p (id bigint primary key);
	create table r (id bigint primary key, n bigint references p, a text, b text) partition by range (id);
	create table leaf partition of r for values from (1) to (100);
	insert into p values (3), (8), (10)`, five, 3, "", "23503"},
		{"code of one's own", trigger("before", `if new.n = 77 then raise 'no' using errcode = 'SN001'; end if;`), five, 3, "", "SN001"},
		{"code of SQL's", trigger("before", `if new.n = 77 then raise 'no' using errcode = '45000'; end if;`), five, 3, "", "45000"},
		{"no row's fault", trigger("before", `if new.n = 77 then raise 'no' using errcode = '53100'; end if;`), five, -1, "", "53100"},
		{"lock", trigger("before", `if new.n = 77 then raise 'no' using errcode = '55P03'; end if;`), five, -1, "", "55P03"},
		{"table with parentheses", `create table "p(x)" (id bigint primary key); insert into "p(x)" values (3), (8), (10);
	create table r (id bigint primary key, n bigint references "p(x)", a text, b text)`, five, 3, "", "23503"},
		{"value with parentheses", `create table p (a text primary key); insert into p values ('x');
	create table r (id bigint primary key, n bigint, a text references p, b text)`, text("x", "", "y)=(z)", ""), 1, "", "23503"},
		{"one key begins another", `create table p (a text primary key); insert into p values ('x');
	create table r (id bigint primary key, n bigint, a text references p, b text)`, text("x", "", "x) is", ""), -3, "", "23503"},
		{"one key looks like another", pairs, text("x, y", "z", "x", "y, z"), -3, "", "23503"},
		{"one key looks like NULL's", `create table p (a text, b text, primary key (a, b));
	create table r (id bigint primary key, n bigint, a text, b text, foreign key (a, b) references p match full)`, text("null", "z", "NULL", "z"), -2, "", "23503"},
		{"keys that differ", pairs, text("x, y", "z", "q", "y, z"), 1, "", "23503"},
		{"keys that are the same", pairs, text("x, y", "z", "q", "y", "q", "y"), 1, "", "23503"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for name, method := range methods {
				s := newShop(t, pgx.QueryExecModeCacheStatement, true, tt.ddl)
				_, err := pgxtype.Load(t.Context(), s.pool, pgxtype.Seq(slices.Values(tt.rows)), pgxtype.LoadConfig[blameRow]{Method: method, Tables: []pgxtype.Table[blameRow]{
					pgxtype.ParentTable(pgx.Identifier{"r"}, []string{"id", "n", "a", "b"}, func(r *blameRow, row []any) []any {
						if r.N == 0 {
							return append(row, &r.ID, nil, r.A, r.B)
						}
						return append(row, &r.ID, &r.N, r.A, r.B)
					}),
				}})
				want := tt.row
				switch {
				case want < -1 && method == pgxtype.Copy:
					want = -1
				case want < -1:
					want = -2 - want
				}
				var at *pgxtype.LoadError
				if !errors.As(err, &at) || at.Row != want || at.Column != tt.column || !strings.Contains(err.Error(), tt.state) {
					t.Errorf("%s, %s: %v; want row %d", tt.name, name, err, want)
				}
				if n := s.ask(t, `select count(*) from r`); n != 0 {
					t.Errorf("%s, %s: %d rows stayed", tt.name, name, n)
				}
			}
		})
	}
}

// A timeout strikes where it does; that row is not to blame.
func TestLoadTimeout(t *testing.T) {
	for name, method := range methods {
		s := newShop(t, pgx.QueryExecModeCacheStatement, true, `create table r (id bigint primary key);
	create function f() returns trigger language plpgsql as $$ begin perform pg_sleep(0.05); return new; end $$;
	create trigger f before insert on r for each row execute function f()`)
		err := pgx.BeginFunc(t.Context(), s.pool, func(tx pgx.Tx) error {
			if _, err := tx.Exec(t.Context(), `set local statement_timeout = 120`); err != nil {
				return err
			}
			_, err := pgxtype.Load(t.Context(), tx, pgxtype.Seq(slices.Values([]ID{1, 2, 3, 4, 5, 6})), pgxtype.LoadConfig[ID]{Method: method, Tables: []pgxtype.Table[ID]{
				pgxtype.ParentTable(pgx.Identifier{"r"}, []string{"id"}, func(id *ID, row []any) []any { return append(row, id) }),
			}})
			return err
		})
		var at *pgxtype.LoadError
		if !errors.As(err, &at) || at.Row != -1 || !strings.Contains(err.Error(), "57014") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// unnest makes a column of each field of a composite: refused. A composite that pgx does not know is
// refused as any such type.
func TestLoadComposite(t *testing.T) {
	s := newShop(t, pgx.QueryExecModeCacheStatement, true, `create type place as (street text, n int);
	create table r (id bigint primary key, at place)`)
	conn, err := s.pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	type place struct {
		Street string
		N      int32
	}
	load := func(method pgxtype.Method) error {
		_, err := pgxtype.Load(t.Context(), conn, pgxtype.Seq(slices.Values([]ID{1, 2})), pgxtype.LoadConfig[ID]{Method: method, Tables: []pgxtype.Table[ID]{
			pgxtype.ParentTable(pgx.Identifier{"r"}, []string{"id", "at"}, func(id *ID, row []any) []any { return append(row, id, place{"Main St", 5}) }),
		}})
		return err
	}
	for _, name := range []string{"", "place", "_place"} {
		if name != "" {
			typ, err := conn.Conn().LoadType(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			conn.Conn().TypeMap().RegisterType(typ)
		}
		var at *pgxtype.LoadError
		want := "is an array, a composite, or of a type that has no arrays; use Copy"
		if name == "" {
			want = "pgx has no codec for its type place: register the type"
		}
		if err := load(pgxtype.Unnest); !errors.As(err, &at) || at.Column != "at" || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if err := load(pgxtype.Copy); err != nil {
		t.Error(err)
	}
	if n := s.ask(t, `select count(*) from r where (at).street = 'Main St' and (at).n = 5`); n != 2 {
		t.Errorf("%d rows", n)
	}
}

// If an earlier row refers to a later one, parts of the rows fail in another way than
// all of them. The error names the right row, or none.
func TestLoadBlameForward(t *testing.T) {
	s := newShop(t, pgx.QueryExecModeCacheStatement, true, `create table r (id bigint primary key, n bigint references r, a text, b text check (b <> 'bad'))`)
	bad := "bad"
	for _, tt := range []struct {
		name string
		rows []blameRow
		want int64
	}{
		{"foreign key", []blameRow{{ID: 1, N: 9}, {ID: 2, N: 8}, {ID: 3, N: 1}, {ID: 4, N: 77}, {ID: 8, N: 2}, {ID: 9, N: 1}}, 3},
		{"two foreign keys", []blameRow{{ID: 1, N: 9}, {ID: 2, N: 76}, {ID: 3, N: 77}, {ID: 8, N: 2}, {ID: 9, N: 1}}, 1},
		{"duplicate", []blameRow{{ID: 1, N: 9}, {ID: 2, N: 8}, {ID: 3, N: 1}, {ID: 2, N: 1}, {ID: 8, N: 2}, {ID: 9, N: 1}}, 3},
		{"duplicate of what is refused", []blameRow{{ID: 1, N: 1}, {ID: 1, N: 1}, {ID: 2, N: 77}}, 1},
		{"check", []blameRow{{ID: 1, N: 9}, {ID: 2, N: 8}, {ID: 9, N: 9, B: &bad}, {ID: 8, N: 1}}, 2},
		{"check, nothing forward", []blameRow{{ID: 1, N: 1}, {ID: 2, N: 1}, {ID: 9, N: 9, B: &bad}, {ID: 8, N: 1}}, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := pgxtype.Load(t.Context(), s.pool, pgxtype.Seq(slices.Values(tt.rows)), pgxtype.LoadConfig[blameRow]{Method: pgxtype.Unnest, Tables: []pgxtype.Table[blameRow]{
				pgxtype.ParentTable(pgx.Identifier{"r"}, []string{"id", "n", "a", "b"}, func(r *blameRow, row []any) []any { return append(row, &r.ID, &r.N, r.A, r.B) }),
			}})
			var at *pgxtype.LoadError
			if !errors.As(err, &at) || at.Row != tt.want {
				t.Errorf("%s: %v; want row %d", tt.name, err, tt.want)
			}
		})
	}
}

// If the statement fails for all rows, no row is named.
func TestLoadBlameStatement(t *testing.T) {
	s := newShop(t, pgx.QueryExecModeCacheStatement, true, `create table r (id bigint primary key);
	create function f() returns trigger language plpgsql as $$ begin raise 'never'; end $$;
	create trigger f before insert on r for each statement execute function f()`)
	_, err := pgxtype.Load(t.Context(), s.pool, pgxtype.Seq(slices.Values([]ID{1, 2, 3})), pgxtype.LoadConfig[ID]{Method: pgxtype.Unnest, Tables: []pgxtype.Table[ID]{
		pgxtype.ParentTable(pgx.Identifier{"r"}, []string{"id"}, func(id *ID, row []any) []any { return append(row, id) }),
	}})
	var at *pgxtype.LoadError
	if !errors.As(err, &at) || at.Row != -1 || !strings.Contains(err.Error(), "never") {
		t.Error(err)
	}
}
