package pgxload_test

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/seed-299c1d6b/snowkey/pgxtype/pgxload"
)

const reusedTables = `create table orders (id bigint primary key, note text not null, raw bytea not null, tags jsonb not null);
	create table lines (id bigint primary key, order_id bigint not null references orders, sku text not null);
	create table parts (id bigint primary key, line_id bigint not null references lines, name text not null)`

// reuse writes n orders with their lines and parts. All rows have the same memory, which it
// overwrites after each row.
func reuse(n int) writes {
	return func(w *pgxload.Writer) error {
		orders, lines, parts := w.Table("orders", "id", "note", "raw", "tags"), w.Table("lines", "id", "order_id", "sku"), w.Table("parts", "id", "line_id", "name")
		var id, up ID
		var text string
		raw, tags, values := make([]byte, 8), make([]string, 1), make([]any, 4)
		write := func(t *pgxload.Table, columns ...any) {
			t.Row(values[:copy(values, columns)]...)
			id, up, text, tags[0] = 7, 8, "spoilt", "spoilt"
			copy(raw, "!!!!!!!!")
			clear(values)
		}
		for i := range n {
			id, text, tags[0] = ID(1000+i), fmt.Sprint("order ", i), fmt.Sprint("tag ", i)
			copy(raw, fmt.Sprintf("%08d", i))
			write(orders, &id, &text, raw, tags)
			for j := 3 * i; j < 3*i+3; j++ {
				id, up, text = ID(1000+j), ID(1000+i), fmt.Sprint("sku ", j)
				write(lines, &id, &up, &text)
				for k := 2 * j; k < 2*j+2; k++ {
					id, up, text = ID(1000+k), ID(1000+j), fmt.Sprint("part ", k)
					write(parts, &id, &up, &text)
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

// The memory of a row is free when Row returns, also if Retry runs f again.
func TestLoadReuse(t *testing.T) {
	const n = 50
	s := newShop(t, pgx.QueryExecModeCacheStatement, true, reusedTables)
	for name, method := range methods {
		for _, bytes := range []int{0, 500, 2000} {
			runs := 0
			err := pgxload.Retry(t.Context(), s.pool, func(tx pgx.Tx) error {
				_, err := pgxload.LoadWith(t.Context(), tx, pgxload.Config{Method: method, ChunkBytes: bytes}, reuse(n))
				if runs++; runs < 3 && err == nil {
					return &pgconn.PgError{Severity: "ERROR", Code: "40001"}
				}
				return err
			})
			if got := s.ask(t, right, n*6); err != nil || got != n*6 || runs != 3 {
				t.Errorf("%s, chunks of %d bytes: %d of %d parts are right, with line and order, after %d runs, %v", name, bytes, got, n*6, runs, err)
			}
			s.exec(t, `truncate orders, lines, parts`)
		}
	}
}
