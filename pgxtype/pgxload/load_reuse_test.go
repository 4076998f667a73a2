package pgxload_test

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/seed-299c1d6b/snowkey/pgxtype/pgxload"
)

const reusedTables = `create table orders (id bigint primary key, note text not null, raw bytea not null, tags jsonb not null);
	create table lines (id bigint primary key, order_id bigint not null references orders, sku text not null)`

// reuse writes n orders with three lines each. All rows have the same memory, which it overwrites after
// each row.
func reuse(n int) writes {
	return func(w *pgxload.Writer) error {
		orders, lines := w.Table("orders", "id", "note", "raw", "tags"), w.Table("lines", "id", "order_id", "sku")
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
			}
		}
		return nil
	}
}

// right counts the lines that are right, with their order.
const right = `select count(*) from generate_series(0, $1::int - 1) j
	join lines l on l.id = 1000 + j and l.order_id = 1000 + j / 3 and l.sku = 'sku ' || j
	join orders o on o.id = l.order_id and o.note = 'order ' || (j / 3) and o.raw = lpad((j / 3)::text, 8, '0')::bytea and o.tags = jsonb_build_array('tag ' || (j / 3))`

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
			if got := s.ask(t, right, n*3); err != nil || got != n*3 || runs != 3 {
				t.Errorf("%s, chunks of %d bytes: %d of %d lines are right, with their order, after %d runs, %v", name, bytes, got, n*3, runs, err)
			}
			s.exec(t, `truncate orders, lines`)
		}
	}
}
