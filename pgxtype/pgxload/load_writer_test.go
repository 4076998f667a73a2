package pgxload_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-299c1d6b/snowkey/pgxtype/pgxload"
)

// A chunk ends after a row of the first table. So children may be written before their parents, and a
// row may refer to a later one of its table, if a parent follows within a chunk.
func TestLoadChildrenFirst(t *testing.T) {
	for name, method := range methods {
		s := newShop(t, pgx.QueryExecModeCacheDescribe, false, `create table trees (id bigint primary key);
		create table nodes (id bigint primary key, tree bigint not null references trees, up bigint not null references nodes)`)
		chunks := 0
		cfg := pgxload.Config{Method: method, ChunkBytes: 400, Progress: func(pgxload.Loaded) { chunks++ }} // a tree has up to 300
		loaded, err := pgxload.LoadWith(t.Context(), s.pool, cfg, func(w *pgxload.Writer) error {
			trees, nodes := w.Table("trees", "id"), w.Table("nodes", "id", "tree", "up")
			for i := range ID(100) {
				for j := range 1 + i%7 {
					nodes.Row(100*i+j, i, 100*i+i%7)
				}
				trees.Row(i)
			}
			return nil
		})
		if err != nil || !reflect.DeepEqual(loaded, pgxload.Loaded{Rows: 495, Tables: []int64{100, 395}}) || chunks < 30 {
			t.Errorf("%s: %+v in %d chunks, %v", name, loaded, chunks, err)
		}
		// The first tree is larger than twice the first chunk, but not than ChunkBytes.
		s.exec(t, `truncate trees, nodes`)
		loaded, err = pgxload.LoadWith(t.Context(), s.pool, pgxload.Config{Method: method, ChunkBytes: 8 << 20}, func(w *pgxload.Writer) error {
			trees, nodes := w.Table("trees", "id"), w.Table("nodes", "id", "tree", "up")
			for i := range 60_000 {
				nodes.Row(i, 1, 9_999)
			}
			trees.Row(1)
			return nil
		})
		if err != nil || loaded.Rows != 60_001 {
			t.Errorf("%s, a large tree: %+v, %v", name, loaded, err)
		}
	}
}

// Chunks grow up to ChunkBytes, and end after a row of the first table; at twice ChunkBytes, after
// any row. So neither a parent with any number of children nor a second root is kept in memory.
func TestLoadChunks(t *testing.T) {
	const rows, size = 100, 256 << 10 // a quarter of the first chunk
	data := make([]byte, size)
	for name, method := range methods {
		s := newShop(t, pgx.QueryExecModeCacheStatement, true, `create unlogged table parents (id bigint primary key, data bytea);
		create unlogged table children (id bigint primary key, parent bigint not null references parents, data bytea)`)
		for _, tt := range []struct {
			name             string
			parents, perEach int
			want             []int64
		}{
			{"first table", rows, 0, []int64{4, 12, 20, 28, 36, 44, 52, 60, 68, 76, 84, 92, 100}},
			{"children of one", 1, rows, []int64{16, 32, 48, 64, 80, 96, 101}},
			{"whole parents", 20, 4, []int64{6, 16, 26, 36, 46, 56, 66, 76, 86, 96, 100}},
		} {
			var told []int64
			loaded, err := pgxload.LoadWith(t.Context(), s.pool, pgxload.Config{Method: method, ChunkBytes: 8 * size, Progress: func(l pgxload.Loaded) { told = append(told, l.Rows) }}, func(w *pgxload.Writer) error {
				parents, children := w.Table("parents", "id", "data"), w.Table("children", "id", "parent", "data")
				for i := range tt.parents {
					parents.Row(i, &data)
					for j := range tt.perEach {
						children.Row(i*tt.perEach+j, i, &data)
					}
				}
				return nil
			})
			if err != nil || !slices.Equal(told, tt.want) || !slices.Equal(loaded.Tables, []int64{int64(tt.parents), int64(tt.parents * tt.perEach)}) {
				t.Errorf("%s, %s: %+v, %d, %v", name, tt.name, loaded, told, err)
			}
			s.exec(t, `truncate parents, children`)
		}
	}
}

// Many roots: one table after the other, and in the end orders with their lines. No row of the first
// table comes any more, and memory stays bounded: tables that are finished keep none.
func TestLoadRoots(t *testing.T) {
	const roots, rows, orders, size = 20, 4_000, 10_000, 400
	for name, method := range methods {
		var ddl []string
		for i := range roots {
			ddl = append(ddl, fmt.Sprintf("create unlogged table root%d (id bigint primary key, note text)", i))
		}
		s := newShop(t, pgx.QueryExecModeCacheStatement, true, strings.Join(append(ddl,
			`create unlogged table orders (id bigint primary key, root bigint not null references root0, note text not null)`,
			`create unlogged table lines (id bigint primary key, order_id bigint not null references orders, note text not null)`), ";\n"))
		note := strings.Repeat("x", size)
		before, peak := heap(), int64(0)
		loaded, err := pgxload.LoadWith(t.Context(), s.pool, pgxload.Config{Method: method, ChunkBytes: 256 << 10}, func(w *pgxload.Writer) error {
			for i := range roots {
				root := w.Table(fmt.Sprint("root", i), "id", "note")
				for id := range rows {
					root.Row(id, &note)
				}
				peak = max(peak, heap()-before)
			}
			all, lines := w.Table("orders", "id", "root", "note"), w.Table("lines", "id", "order_id", "note")
			for i := range orders {
				all.Row(i, i%rows, &note)
				lines.Row(2*i, i, &note)
				lines.Row(2*i+1, i, &note)
				if i%(orders/10) == 0 {
					peak = max(peak, heap()-before)
				}
			}
			return nil
		})
		if err != nil || loaded.Tables[roots-1] != rows || loaded.Tables[roots] != orders || loaded.Tables[roots+1] != 2*orders {
			t.Errorf("%s: %+v, %v", name, loaded, err)
		}
		t.Logf("%s: the heap grew by %d kB, and the rows have %d kB", name, peak>>10, (roots*rows+3*orders)*size>>10)
		if peak > 6<<20 {
			t.Errorf("%s: the heap grew by %d kB", name, peak>>10)
		}
	}
}

// A table may be named between rows. If it has no rows, its names must be right all the same.
func TestLoadLateTables(t *testing.T) {
	s := newShop(t, pgx.QueryExecModeCacheStatement, true, `create table a (id bigint primary key);
	create table b (id bigint primary key references a);
	create table c (id bigint primary key references b)`)
	for name, method := range methods {
		for _, chunk := range []int{0, 1} {
			cfg := pgxload.Config{Method: method, ChunkBytes: chunk}
			late := func(table string, columns ...string) (pgxload.Loaded, error) {
				return pgxload.LoadWith(t.Context(), s.pool, cfg, func(w *pgxload.Writer) error {
					a := w.Table("a", "id")
					a.Row(1)
					b := w.Table("b", "id")
					a.Row(2) // and its chunk may be on its way
					b.Row(2)
					c := w.Table("c", "id")
					a.Row(3)
					c.Row(2)
					b.Row(3)
					w.Table(table, columns...)
					return nil
				})
			}
			loaded, err := late("lines_of_none", "id")
			if at(err).Table != "lines_of_none" || at(err).Row != -1 || at(err).Column != "" || !strings.Contains(err.Error(), "there is no such table") || loaded.Tables != nil {
				t.Errorf("%s: no such table: %+v, %v", name, loaded, err)
			}
			if loaded, err = late("c", "id"); err != nil || !slices.Equal(loaded.Tables, []int64{3, 2, 1, 0}) {
				t.Errorf("%s: %+v, %v", name, loaded, err)
			}
			if n := s.ask(t, `select 100 * (select count(*) from a) + 10 * (select count(*) from b) + (select count(*) from c)`); n != 321 {
				t.Errorf("%s: %d", name, n)
			}
			s.exec(t, `truncate a, b, c`)
		}
	}
}

// The first error is kept: rows after it are ignored, and Load returns it with the error of f.
func TestWriterErr(t *testing.T) {
	s := newShop(t, pgx.QueryExecModeCacheStatement, true, shopTables)
	for name, method := range methods {
		for _, tt := range []struct {
			name   string
			values row
			want   string
		}{
			{"too few values", row{1}, "pgxload: orders: row 2: 1 values for 4 columns"},
			{"wrong value", row{"x", nil, nil, time.Now()}, `pgxload: orders: row 2: column "id": "x" (string) cannot be sent as bigint`},
		} {
			for _, returned := range []error{nil, errSource} {
				all, told := makeOrders(5, 1), false
				_, err := pgxload.LoadWith(t.Context(), s.pool, pgxload.Config{Method: method, ChunkBytes: 1, Progress: func(l pgxload.Loaded) { told = told || l.Rows > 2 }}, func(w *pgxload.Writer) error {
					orders, lines := tablesOf(w)
					orders.Row(all[0].row()...)
					orders.Row(all[1].row()...)
					if w.Err() != nil {
						t.Error(w.Err())
					}
					orders.Row(tt.values...)
					first := w.Err()
					orders.Row(1, 2)
					lines.Row(all[3].Lines[0].row()...)
					orders.OnConflict(pgxload.Conflict{Key: []string{"id"}})
					w.Table("", "")
					if w.Err() != first || w.NextID() != 0 {
						t.Errorf("%s, %s: %v after %v", name, tt.name, w.Err(), first)
					}
					return returned
				})
				if at(err).Row != 2 || !strings.Contains(err.Error(), tt.want) || errors.Is(err, errSource) != (returned != nil) || told {
					t.Errorf("%s, %s: %v", name, tt.name, err)
				}
				s.empty(t)
			}
		}
		// An error of f alone is returned as it is.
		_, err := pgxload.LoadWith(t.Context(), s.pool, pgxload.Config{Method: method, ChunkBytes: smallChunk}, func(w *pgxload.Writer) error {
			_ = writeOrders(makeOrders(30, 5))(w)
			return errSource
		})
		if err != errSource {
			t.Errorf("%s: %v", name, err)
		}
		s.empty(t)
	}
}

// A Writer that is used after Load has returned does nothing.
func TestWriterAfterLoad(t *testing.T) {
	s := newShop(t, pgx.QueryExecModeCacheStatement, true, shopTables)
	for _, returned := range []error{nil, errSource} {
		var w *pgxload.Writer
		var orders *pgxload.Table
		o := makeOrders(1, 0)[0]
		loaded, err := pgxload.Load(t.Context(), s.pool, func(writer *pgxload.Writer) error {
			w = writer
			orders, _ = tablesOf(w)
			orders.Row(o.row()...)
			return returned
		})
		if err != returned {
			t.Fatal(err)
		}
		o.ID++
		orders.Row(o.row()...)
		w.Table("lines", "id").Row(1)
		orders.OnConflict(pgxload.Conflict{})
		if w.NextID() != 0 || w.Err() == nil || !strings.Contains(w.Err().Error(), "the Writer's function has returned") {
			t.Error(w.Err())
		}
		if n := s.ask(t, `select count(*) from orders`); n != loaded.Rows {
			t.Errorf("%d rows", n)
		}
		s.exec(t, `truncate orders, lines`)
	}
}

// The name of a table is read as in SQL, that of a column as it is.
func TestTableNames(t *testing.T) {
	s := newShop(t, pgx.QueryExecModeCacheStatement, true, `create table orders (id bigint primary key, "a""b, c" int);
	create table "Order.s ""x""" (id bigint primary key)`)
	for _, name := range []string{"", ".", "a.", ".a", "a..b", "a.b.c.d", `"`, `""`, `"a`, `a"`, `"a"b`, "a\x00", "nowhere", `"Orders"`, "orders;", "orders (id)", "public.orders", "7"} {
		_, err := pgxload.Load(t.Context(), s.pool, writeRows(name, "id", row{1}))
		if err == nil || !strings.Contains(err.Error(), "there is no such table") && !strings.Contains(err.Error(), "pgxload: look up ") {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, tt := range []struct {
		columns []string
		want    string
	}{
		{nil, "pgxload: Table orders: columns nil: is required"},
		{[]string{"id", "id"}, "42701"},
		{[]string{"id", ""}, `orders: the table has no such column`},
		{[]string{"id", "id\x00"}, `column "id\x00": the table has no such column`},
		{[]string{"ID"}, `column "ID": the table has no such column`},
		{[]string{"ctid"}, `column "ctid": the table has no such column`},
	} {
		_, err := pgxload.Load(t.Context(), s.pool, func(w *pgxload.Writer) error {
			w.Table("orders", tt.columns...).Row(make([]any, len(tt.columns))...)
			return nil
		})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v\ndoes not contain %q", err, tt.want)
		}
	}
	for i, name := range []string{"orders", `"orders"`, s.schema + ".orders", s.schema + `."orders"`, "ORDERS", " orders"} {
		if _, err := pgxload.Load(t.Context(), s.pool, writeRows(name, "id", row{i})); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := pgxload.Load(t.Context(), s.pool, func(w *pgxload.Writer) error {
		w.Table("orders", "id", `a"b, c`).Row(9, 9)
		w.Table(`"Order.s ""x"""`, "id").OnConflict(pgxload.Conflict{Key: []string{"id"}}).Row(9)
		return nil
	}); err != nil {
		t.Error(err)
	}
}
