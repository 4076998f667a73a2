package pgxload_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seed-299c1d6b/snowkey/pgxtype/pgxload"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Each fault is named by table, row and column, and leaves nothing behind. Of 30 orders with 5 lines,
// in several chunks, one value is wrong: in order 20 or in its line 3, which is line 103 of all. Lines
// are written after their order, or before it.
func TestLoadErrors(t *testing.T) {
	const extra = shopTables + `
	create table pairs (order_id bigint, line_id bigint, primary key (order_id, line_id));
	create table notes (order_id bigint, line_id bigint, foreign key (order_id, line_id) references pairs);
	create table late (order_id bigint references orders deferrable initially deferred);
	create function picky() returns trigger language plpgsql as 'begin if new.quantity = 77 then raise exception ''seventy-seven''; end if; return new; end';
	create trigger picky before insert on lines for each row execute function picky()`
	columns := map[string][]string{
		"orders": orderColumns, "lines": lineColumns, "pairs": {"order_id", "line_id"}, "notes": {"line_id", "order_id"}, "late": {"order_id"},
	}
	faulty := map[string]int64{"orders": 20, "late": 20, "lines": 103, "pairs": 103, "notes": 103}
	all := makeOrders(30, 5)
	shops := map[bool]*shop{}
	for _, register := range []bool{true, false} {
		shops[register] = newShop(t, pgx.QueryExecModeCacheStatement, register, extra)
	}
	for _, tt := range []struct {
		name, table, column string
		value               any
		names               string // the column in the error; any, where PostgreSQL may not tell
		state               string // or
		is                  error  // what it wraps
		shows               string
	}{
		{"duplicate parent", "orders", "id", all[0].ID, "", "23505", nil, "Key (id)=(1001) already exists"},
		{"duplicate in one chunk", "lines", "id", all[20].Lines[2].ID, "", "23505", nil, "already exists"},
		{"duplicate sku", "lines", "sku", all[0].Lines[2].SKU, "", "23505", nil, "Key (sku)"},
		{"foreign key", "lines", "order_id", ID(7), "", "23503", nil, `Key (order_id)=(7) is not present in table "orders"`},
		{"foreign key to itself", "orders", "parent_id", ID(7), "", "23503", nil, "(parent_id)=(7)"},
		{"composite foreign key", "notes", "line_id", ID(7), "", "23503", nil, "is not present"},
		{"deferred foreign key", "late", "order_id", ID(7), "", "23503", nil, "is not present"},
		{"NULL", "lines", "sku", nil, "sku", "23502", nil, "null value"},
		{"check", "lines", "quantity", 0, "", "23514", nil, "quantity"},
		{"check of a parent", "orders", "note", "bad", "", "23514", nil, "note"},
		{"too long", "lines", "sku", "123456789", "any", "22001", nil, "too long"},
		{"trigger", "lines", "quantity", 77, "", "P0001", nil, "seventy-seven"},
		{"negative id", "lines", "id", ID(-5), "id", "", sqltype.ErrNegative, "-5"},
		{"int4 overflow", "lines", "quantity", 1 << 40, "quantity", "", nil, "1099511627776"},
		{"no such encoding", "orders", "parent_id", struct{ X chan int }{}, "parent_id", "", nil, "chan int"},
		{"text that is no time", "orders", "placed_at", "yesterday, perhaps", "placed_at", "", nil, "yesterday, perhaps"},
	} {
		for name, method := range methods {
			for register, s := range shops {
				for _, first := range []string{"parents", "children"} {
					t.Run(fmt.Sprintf("%s/%s/registered=%v/%s first", tt.name, name, register, first), func(t *testing.T) {
						loaded, err := pgxload.LoadWith(t.Context(), s.pool, pgxload.Config{Method: method, ChunkBytes: smallChunk}, func(w *pgxload.Writer) error {
							tables, rows := map[string]*pgxload.Table{}, map[string]int64{}
							for _, table := range []string{"orders", "lines", "pairs", "notes", "late"} {
								tables[table] = w.Table(table, columns[table]...)
							}
							write := func(table string, values ...any) {
								if table == tt.table && rows[table] == faulty[table] {
									values[slices.Index(columns[table], tt.column)] = tt.value
								}
								rows[table]++
								tables[table].Row(values...)
							}
							for _, o := range all {
								if first == "parents" {
									write("orders", o.row()...)
								}
								for _, l := range o.Lines {
									write("lines", l.row()...)
									write("pairs", o.ID, l.ID)
									write("notes", l.ID, o.ID)
								}
								write("late", o.ID)
								if first == "children" {
									write("orders", o.row()...)
								}
							}
							return nil
						})
						row := faulty[tt.table]
						if tt.table == "late" { // found at COMMIT
							row = -1
						}
						if at := at(err); at.Table != tt.table || at.Row != row || at.Column != tt.names && tt.names != "any" {
							t.Fatalf("%v; want table %s, row %d, column %q", err, tt.table, row, tt.names)
						}
						var pg *pgconn.PgError
						if errors.As(err, &pg) && pg.Code != tt.state || tt.state != "" && pg == nil || tt.is != nil && !errors.Is(err, tt.is) {
							t.Errorf("%v", err)
						}
						want := []string{"pgxload: " + tt.table, tt.shows}
						if row >= 0 {
							want = append(want, fmt.Sprintf("%s: row %d", tt.table, row))
						}
						for _, part := range want {
							if !strings.Contains(err.Error(), part) {
								t.Errorf("%v\ndoes not contain %q", err, part)
							}
						}
						if !reflect.DeepEqual(loaded, pgxload.Loaded{}) {
							t.Errorf("%+v", loaded)
						}
						s.empty(t)
					})
				}
			}
		}
	}
}

// One error lists all that is wrong, before a transaction begins.
func TestLoadConfig(t *testing.T) {
	_, err := pgxload.LoadWith(t.Context(), nil, pgxload.Config{Method: 2, ChunkBytes: -5}, nil)
	for _, want := range []string{"pgxload: ", "db nil: is required", "f nil: is required", "Method 2: must be Copy or Unnest", "ChunkBytes -5: must be 0 to 268435456"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\ndoes not contain %q", err, want)
		}
	}
	for _, db := range []pgxload.Beginner{(*pgx.Conn)(nil), (*pgxpool.Pool)(nil), (*pgxpool.Tx)(nil)} {
		if _, err := pgxload.Load(t.Context(), db, writeOrders(nil)); err == nil || err.Error() != "pgxload: db nil: is required" {
			t.Errorf("%T: %v", db, err)
		}
	}
	for want, c := range map[string]pgxload.Conflict{
		"Conflict: Key nil: is required": {Update: []string{"id"}}, `Key "x": is not a column`: {Key: []string{"x"}}, `Update "y": is not a column`: {Key: []string{"id"}, Update: []string{"y"}},
	} {
		s := newShop(t, pgx.QueryExecModeCacheStatement, true, shopTables)
		_, err := pgxload.Load(t.Context(), s.pool, func(w *pgxload.Writer) error { w.Table("orders", "id").OnConflict(c); return nil })
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\ndoes not contain %q", err, want)
		}
	}
	if err := pgxload.RetryWith(t.Context(), (*pgxpool.Pool)(nil), pgxload.RetryConfig{Attempts: -1}, nil); err == nil || !strings.Contains(err.Error(), "Attempts -1") || !strings.Contains(err.Error(), "f nil: is required") {
		t.Error(err)
	}
	if _, err := pgxload.LoadWith(t.Context(), offline{}, pgxload.Config{ChunkBytes: 256<<20 + 1}, writeOrders(nil)); err == nil || !strings.Contains(err.Error(), "ChunkBytes 268435457") {
		t.Error(err)
	}
}

// COPY refuses a table with row level security; unnest is for such.
func TestLoadRowSecurity(t *testing.T) {
	s := newShop(t, pgx.QueryExecModeCacheStatement, true, `create table secured (id bigint primary key, tenant int);
		alter table secured enable row level security;
		create policy mine on secured using (tenant = 1)`)
	role := strings.Replace(s.schema, "shop", "role", 1)
	s.exec(t, `create role `+role, `grant usage on schema `+s.schema+` to `+role, `grant select, insert on secured to `+role)
	t.Cleanup(func() {
		if _, err := s.pool.Exec(context.Background(), `drop owned by `+role+`; drop role `+role); err != nil {
			t.Error(err)
		}
	})
	for _, tt := range []struct {
		name   string
		method pgxload.Method
		rows   []row
		row    int64 // -2: it succeeds
		code   string
	}{
		{"copy", pgxload.Copy, []row{{1, 1}}, -1, "0A000"},
		{"unnest", pgxload.Unnest, []row{{1, 1}, {2, 1}}, -2, ""},
		// COPY is refused, so Load finds the row by trial.
		{"another's row", pgxload.Unnest, []row{{3, 1}, {4, 2}, {5, 1}}, 1, "42501"},
		{"twice", pgxload.Unnest, []row{{3, 1}, {4, 1}, {5, 1}, {1, 1}, {6, 1}}, 3, "23505"},
	} {
		err := pgx.BeginFunc(t.Context(), s.pool, func(tx pgx.Tx) error {
			if _, err := tx.Exec(t.Context(), `set local role `+role); err != nil {
				return err
			}
			_, err := pgxload.LoadWith(t.Context(), tx, pgxload.Config{Method: tt.method}, writeRows("secured", "id tenant", tt.rows...))
			return err
		})
		if at(err).Row != tt.row || (err == nil) != (tt.code == "") || err != nil && !strings.Contains(err.Error(), tt.code) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	if n := s.ask(t, `select count(*) from secured`); n != 2 {
		t.Errorf("%d rows", n)
	}
}
