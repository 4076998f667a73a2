package pgxload_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/seed-299c1d6b/snowkey/pgxtype/pgxload"
)

const reusedTables = `create table orders (id bigint primary key, note text not null, raw bytea not null, tags jsonb not null);
	create table lines (id bigint primary key, order_id bigint not null references orders, sku text not null unique);
	create table parts (id bigint primary key, line_id bigint not null references lines, name text not null check (name <> 'bad'))`

// reuse writes n orders with their lines and parts. All rows have the same memory, which it
// overwrites after each row. Before a row is written, bad may change it.
func reuse(n int, bad func(table string, row int, id, up *ID, text *string)) writes {
	return func(w *pgxload.Writer) error {
		orders, lines, parts := w.Table("orders", "id", "note", "raw", "tags"), w.Table("lines", "id", "order_id", "sku"), w.Table("parts", "id", "line_id", "name")
		var id, up ID
		var text string
		raw, tags, values := make([]byte, 8), make([]string, 1), make([]any, 4)
		write := func(t *pgxload.Table, name string, row int, columns ...any) {
			if bad != nil {
				bad(name, row, &id, &up, &text)
			}
			t.Row(values[:copy(values, columns)]...)
			id, up, text, tags[0] = 7, 8, "spoilt", "spoilt"
			copy(raw, "!!!!!!!!")
			clear(values)
		}
		for i := range n {
			id, text, tags[0] = ID(1000+i), fmt.Sprint("order ", i), fmt.Sprint("tag ", i)
			copy(raw, fmt.Sprintf("%08d", i))
			write(orders, "orders", i, &id, &text, raw, tags)
			for j := 3 * i; j < 3*i+3; j++ {
				id, up, text = ID(1000+j), ID(1000+i), fmt.Sprint("sku ", j)
				write(lines, "lines", j, &id, &up, &text)
				for k := 2 * j; k < 2*j+2; k++ {
					id, up, text = ID(1000+k), ID(1000+j), fmt.Sprint("part ", k)
					write(parts, "parts", k, &id, &up, &text)
				}
			}
		}
		return nil
	}
}

// right counts the parts that are right, with their line and order.
const right = `select count(*) from generate_series(0, $1::int - 1) k
	join parts p on p.id = 1000 + k and p.line_id = 1000 + k / 2 and p.name = 'part ' || k
	join lines l on l.id = p.line_id and l.order_id = 1000 + k / 6 and l.sku = 'sku ' || (k / 2)
	join orders o on o.id = l.order_id and o.note = 'order ' || (k / 6) and o.raw = lpad((k / 6)::text, 8, '0')::bytea and o.tags = jsonb_build_array('tag ' || (k / 6))`

// The memory of a row is free when Row returns. Errors name the right row all the same.
func TestLoadReuse(t *testing.T) {
	const n, wrong = 50, 33
	s := newShop(t, pgx.QueryExecModeCacheStatement, true, reusedTables)
	for name, method := range methods {
		for _, bytes := range []int{0, 500, 2000} {
			cfg := pgxload.Config{Method: method, ChunkBytes: bytes}
			for _, tt := range []struct {
				name, table string
				row         int
				bad         func(id, up *ID, text *string)
				shows       string
			}{
				{"key of an order", "orders", wrong, func(id, _ *ID, _ *string) { *id = 1005 }, "(id)=(1005)"},
				{"foreign key", "lines", 3*wrong + 1, func(_, up *ID, _ *string) { *up = 99 }, "(order_id)=(99)"},
				{"foreign key of a part", "parts", 6*wrong + 5, func(_, up *ID, _ *string) { *up = 97 }, "(line_id)=(97)"},
				{"unique", "lines", 3 * wrong, func(_, _ *ID, text *string) { *text = "sku 3" }, "(sku)=(sku 3)"},
				{"check", "parts", 6*wrong + 4, func(_, _ *ID, text *string) { *text = "bad" }, "bad"},
				{"negative key", "lines", 3 * wrong, func(id, _ *ID, _ *string) { *id = -3 }, "-3"},
				{"none", "", 0, nil, ""},
			} {
				loaded, err := pgxload.LoadWith(t.Context(), s.pool, cfg, reuse(n, func(table string, row int, id, up *ID, text *string) {
					if table == tt.table && row == tt.row {
						tt.bad(id, up, text)
					}
				}))

				switch e, want := at(err), []int64{n, 3 * n, 6 * n}; {
				case tt.bad == nil && (err != nil || !reflect.DeepEqual(loaded.Tables, want)):
					t.Errorf("%s, chunks of %d bytes: %+v, %v", name, bytes, loaded, err)
				case tt.bad != nil && (e.Table != tt.table || e.Row != int64(tt.row) || !strings.Contains(err.Error(), tt.shows)):
					t.Errorf("%s, chunks of %d bytes, %s: %v", name, bytes, tt.name, err)
				case tt.bad != nil && s.ask(t, `select count(*) from orders`) != 0:
					t.Errorf("%s, chunks of %d bytes, %s: orders stayed", name, bytes, tt.name)
				}
			}
			if got := s.ask(t, right, n*6); got != n*6 {
				t.Errorf("%s, chunks of %d bytes: %d of %d parts are right, with line and order", name, bytes, got, n*6)
			}
			s.exec(t, `truncate orders, lines, parts`)
		}
		runs := 0
		err := pgxload.Retry(t.Context(), s.pool, func(tx pgx.Tx) error {
			_, err := pgxload.LoadWith(t.Context(), tx, pgxload.Config{Method: method, ChunkBytes: 2000}, reuse(n, nil))
			if runs++; runs < 3 && err == nil {
				return &pgconn.PgError{Severity: "ERROR", Code: "40001"}
			}
			return err
		})

		if got := s.ask(t, right, n*6); err != nil || got != n*6 || runs != 3 {
			t.Errorf("%s, Retry: %d of %d parts are right after %d runs, %v", name, got, n*6, runs, err)
		}
		s.exec(t, `truncate orders, lines, parts`)
	}
}
