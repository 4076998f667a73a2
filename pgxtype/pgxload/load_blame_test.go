package pgxload_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/seed-299c1d6b/snowkey/pgxtype/pgxload"
)

// The row that is named is at fault, or none is.
func TestLoadBlame(t *testing.T) {
	const (
		rows = `create table r (id bigint primary key, n bigint, a text, b text);
	`
		audited  = `insert into audit values (new.n, 1);`
		noColumn = `if new.n = 77 then insert into audit values (1, null); end if;`
		parens   = `create table "p(x)" (id bigint primary key); insert into "p(x)" values (3), (8), (10);
	create table r (id bigint primary key, n bigint references "p(x)", a text, b text)`
		single = `create table p (a text primary key); insert into p values ('x');
	create table r (id bigint primary key, n bigint, a text references p, b text)`
		pairs = `create table p (a text, b text, primary key (a, b)); insert into p values ('x, y', 'z');
	create table r (id bigint primary key, n bigint, a text, b text, foreign key (a, b) references p`
		tree = `create table r (id bigint primary key, n bigint references r, a text, b text check (b <> 'bad'))`
	)
	trigger := func(when, body string) string {
		return rows + `create table audit (id bigint primary key, n bigint not null);
	create function f() returns trigger language plpgsql as $$ begin ` + body + ` return new; end $$;
	create trigger f ` + when + ` execute function f()`
	}
	raise := func(when, code string) string {
		return trigger(when, `if new.n = 77 then raise 'no' using errcode = '`+code+`'; end if;`)
	}
	const before, after = "before insert on r for each row", "after insert on r for each row"
	refs := func(values ...ID) (out []row) { // id, n, id, n, …
		for i := 0; i < len(values); i += 2 {
			out = append(out, row{values[i], values[i+1], nil, nil})
		}
		return out
	}
	text := func(values ...any) (out []row) { // a, b, a, b, …
		for i := 0; i < len(values); i += 2 {
			out = append(out, row{ID(i + 1), nil, values[i], values[i+1]})
		}
		return out
	}
	five := refs(3, 10, 4, 3, 5, 3, 6, 77, 7, 8)
	bad := row{ID(9), ID(9), nil, "bad"}
	for _, tt := range []struct {
		name, ddl string
		rows      []row
		row       int64
		state     string
	}{
		// id 3 is not at fault: it is the audit's.
		{"key of another table, before", trigger(before, audited), five, 2, "23505"},
		{"column of another table, before", trigger(before, noColumn), five, 3, "23502"},
		{"partition", `create table p (id bigint primary key);
	create table r (id bigint primary key, n bigint references p, a text, b text) partition by range (id);
	create table leaf partition of r for values from (1) to (100);
	insert into p values (3), (8), (10)`, five, 3, "23503"},
		{"code of one's own", raise(before, "SN001"), five, 3, "SN001"},
		{"no row's fault", raise(before, "53100"), five, -1, "53100"},
		{"lock", raise(before, "55P03"), five, -1, "55P03"},
		{"the whole statement", trigger("before insert on r for each statement", `raise 'never';`), five, -1, "P0001"},
		{"table with parentheses", parens, five, 3, "23503"},
		{"one key begins another", single, text("x", "", "x) is", ""), 1, "23503"},
		{"one key looks like another", pairs + `)`, text("x, y", "z", "x", "y, z"), 1, "23503"},
		{"keys that differ", pairs + `)`, text("x, y", "z", "q", "y, z"), 1, "23503"},
		// If an earlier row refers to a later one, parts of the rows fail in another way than all. Only
		// COPY names the duplicate.
		{"forward: foreign key", tree, refs(1, 9, 2, 8, 3, 1, 4, 77, 8, 2, 9, 1), -1, "23503"},
		{"forward: last foreign key", tree, refs(1, 9, 2, 8, 8, 2, 9, 1, 3, 77), 4, "23503"},
		{"forward: duplicate", tree, refs(1, 9, 2, 8, 3, 1, 2, 1, 8, 2, 9, 1), 3, "23505"},
		{"forward: check", tree, append(refs(1, 9, 2, 8), bad, refs(8, 1)[0]), 2, "23514"},
		// PostgreSQL quotes the whole row, of which a part differs in each trial.
		{"check, a default that differs", tree + `; alter table r add k serial, add at timestamptz default clock_timestamp()`, append(refs(1, 1, 2, 1), bad, refs(8, 1)[0]), 2, "23514"},
		{"check, nothing forward", tree, append(refs(1, 1, 2, 1), bad, refs(8, 1)[0]), 2, "23514"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newShop(t, pgx.QueryExecModeCacheStatement, true, tt.ddl)
			for name, method := range methods {
				want := tt.row
				if tt.name == "forward: duplicate" && method == pgxload.Unnest {
					want = -1
				}
				_, err := pgxload.LoadWith(t.Context(), s.pool, pgxload.Config{Method: method}, writeRows("r", "id n a b", tt.rows...))
				if at := at(err); at.Table != "r" || at.Row != want || at.Column != "" || !strings.Contains(err.Error(), tt.state) {
					t.Errorf("%s: %v; want row %d", name, err, want)
				}
				if n := s.ask(t, `select count(*) from r`); n != 0 {
					t.Errorf("%s: %d rows stayed", name, n)
				}
			}
		})
	}
}

// After 60 chunks there are no savepoints for a search. The error still names the table, and by COPY
// the row, if PostgreSQL does.
func TestLoadBlameLate(t *testing.T) {
	s := newShop(t, pgx.QueryExecModeCacheStatement, true, `create table p (id bigint primary key); insert into p values (1);
	create table r (id bigint primary key, n bigint references p)`)
	for name, method := range methods {
		for _, tt := range []struct {
			state     string
			row, want int64
		}{{"23503", 59, 59}, {"23503", 60, -1}, {"23503", 99, -1}, {"23505", 59, 59}, {"23505", 60, map[string]int64{"copy": 60, "unnest": -1}[name]}} {
			_, err := pgxload.LoadWith(t.Context(), s.pool, pgxload.Config{Method: method, ChunkBytes: 1}, func(w *pgxload.Writer) error {
				r := w.Table("r", "id", "n")
				for i := range int64(100) {
					id, n := i+1, 1
					switch {
					case i == tt.row && tt.state == "23503":
						n = 2
					case i == tt.row:
						id = 1
					}
					r.Row(id, n)
				}
				return nil
			})
			if at(err).Table != "r" || at(err).Row != tt.want || !strings.Contains(err.Error(), tt.state) {
				t.Errorf("%s: %v; want row %d of %d", name, err, tt.want, tt.row)
			}
		}
	}
}
