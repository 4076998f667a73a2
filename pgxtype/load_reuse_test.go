package pgxtype_test

import (
	"errors"
	"fmt"
	"iter"
	"reflect"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/seed-299c1d6b/snowkey/pgxtype"
)

// reused is an order whose memory the iterator overwrites when it continues, with all
// that the order points to.
type reused struct {
	ID    *ID
	Note  *string
	Raw   []byte
	Tags  []string
	Lines []reusedLine
	More  []*reusedLine // streamed
}

type reusedLine struct {
	ID, OrderID *ID
	SKU         []byte
	Parts       []reusedPart
}

type reusedPart struct {
	ID, LineID ID
	Name       *string
}

const reusedTables = `create table orders (id bigint primary key, note text not null, raw bytea not null, tags text[] not null);
	create table lines (id bigint primary key, order_id bigint not null references orders, sku text not null unique);
	create table more (id bigint primary key, order_id bigint not null references orders, sku text not null check (sku <> 'bad'));
	create table parts (id bigint primary key, line_id bigint not null references lines, name text not null)`

const (
	reusedLines = 3 // of an order, and as many are streamed
	reusedParts = 2 // of a line
)

// reuse yields n orders in the memory of one. It overwrites each before it writes the next.
func reuse(n int, bad func(o *reused, i int)) iter.Seq2[*reused, error] {
	return func(yield func(*reused, error) bool) {
		o := &reused{ID: new(ID), Note: new(string), Raw: make([]byte, 8)}
		names := make([]string, reusedLines*reusedParts)
		ids := make([]ID, 4*reusedLines)
		skus := make([]byte, 0, 1<<10)
		for i := range n {
			*o.ID, *o.Note = ID(1_000_000+i), fmt.Sprintf("order %d", i)
			copy(o.Raw, fmt.Sprintf("%08d", i))
			o.Tags = append(o.Tags[:0], fmt.Sprint("a", i), fmt.Sprint("b", i))
			o.Lines, o.More, skus = o.Lines[:0], o.More[:0], skus[:0]
			for j := range reusedLines {
				line := func(k, id int) reusedLine {
					ids[2*k], ids[2*k+1] = ID(id), *o.ID
					from := len(skus)
					skus = fmt.Appendf(skus, "sku %d", id)
					return reusedLine{ID: &ids[2*k], OrderID: &ids[2*k+1], SKU: skus[from:]}
				}
				if cap(o.Lines) > j {
					parts := o.Lines[:j+1][j].Parts[:0]
					o.Lines = append(o.Lines, line(j, 2_000_000+10*i+j))
					o.Lines[j].Parts = parts
				} else {
					o.Lines = append(o.Lines, line(j, 2_000_000+10*i+j))
				}
				l := &o.Lines[j]
				for k := range reusedParts {
					name := &names[j*reusedParts+k]
					*name = fmt.Sprintf("part %d of %d", k, *l.ID)
					l.Parts = append(l.Parts, reusedPart{ID: *l.ID*10 + ID(k), LineID: *l.ID, Name: name})
				}
				m := line(reusedLines+j, 3_000_000+10*i+j)
				o.More = append(o.More, &m)
			}
			if bad != nil {
				bad(o, i)
			}
			if !yield(o, nil) {
				return
			}
			*o.ID, *o.Note = 7, "spoilt"
			for _, m := range [][]byte{o.Raw, skus} {
				for i := range m {
					m[i] = '!'
				}
			}
			clear(ids)
			for i := range names {
				names[i] = "spoilt"
			}
			for i := range o.Tags {
				o.Tags[i] = "spoilt"
			}
			for i := range o.Lines {
				clear(o.Lines[i].Parts)
			}
			clear(o.More)
		}
	}
}

func reusedConfig(method pgxtype.Method, chunk int) pgxtype.LoadConfig[*reused] {
	columns := []string{"id", "order_id", "sku"}
	orderColumns := []string{"id", "note", "raw", "tags"}
	orderValues := func(o **reused, row []any) []any { return append(row, (*o).ID, (*o).Note, (*o).Raw, (*o).Tags) }
	if method == pgxtype.Unnest { // which has no arrays
		orderColumns, orderValues = orderColumns[:3], func(o **reused, row []any) []any { return append(row, (*o).ID, (*o).Note, (*o).Raw) }
	}
	values := func(l *reusedLine, row []any) []any { return append(row, l.ID, l.OrderID, string(l.SKU)) }
	return pgxtype.LoadConfig[*reused]{Method: method, ChunkRows: chunk, Tables: []pgxtype.Table[*reused]{
		pgxtype.ParentTable(pgx.Identifier{"orders"}, orderColumns, orderValues),
		pgxtype.ChildTable(pgx.Identifier{"lines"}, columns, func(o **reused) []reusedLine { return (*o).Lines }, values),
		pgxtype.ChildTableSeq(pgx.Identifier{"more"}, columns, func(o **reused) iter.Seq2[*reusedLine, error] {
			return func(yield func(*reusedLine, error) bool) {
				var l reusedLine // one for all, and so are its keys
				var id, orderID ID
				var sku []byte
				for _, m := range (*o).More {
					id, orderID = *m.ID, *m.OrderID
					sku = append(sku[:0], m.SKU...)
					l.ID, l.OrderID, l.SKU = &id, &orderID, sku
					if !yield(&l, nil) {
						return
					}
					id, orderID = 0, 0
					clear(sku)
				}
			}
		}, func(l **reusedLine, row []any) []any { return values(*l, row) }),
		pgxtype.ChildTable(pgx.Identifier{"parts"}, []string{"id", "line_id", "name"}, func(o **reused) (parts []reusedPart) {
			for _, l := range (*o).Lines {
				parts = append(parts, l.Parts...)
			}
			return parts
		}, func(p *reusedPart, row []any) []any { return append(row, &p.ID, &p.LineID, p.Name) }),
	}}
}

const wantReused = `select count(*) from generate_series(0, $1::int - 1) i
	join orders o on o.id = 1000000 + i and o.note = 'order ' || i and o.raw = lpad(i::text, 8, '0')::bytea
	cross join generate_series(0, 2) j
	join lines l on l.id = 2000000 + 10 * i + j and l.order_id = o.id and l.sku = 'sku ' || l.id
	join more m on m.id = 3000000 + 10 * i + j and m.order_id = o.id and m.sku = 'sku ' || m.id
	cross join generate_series(0, 1) k
	join parts p on p.id = l.id * 10 + k and p.line_id = l.id and p.name = format('part %s of %s', k, l.id)`

// An iterator may overwrite all that it has yielded when it continues.
func TestLoadReuse(t *testing.T) {
	const n = 50
	for name, method := range methods {
		for _, chunk := range []int{0, 1, 40} {
			s := newShop(t, pgx.QueryExecModeCacheStatement, true, strings.Replace(reusedTables, "text[] not null", "text[]", 1))
			loaded, err := pgxtype.Load(t.Context(), s.pool, reuse(n, nil), reusedConfig(method, chunk))
			if want := []int64{n, n * 3, n * 3, n * 6}; err != nil || !reflect.DeepEqual(loaded.Tables, want) {
				t.Errorf("%s, chunks of %d: %+v, %v", name, chunk, loaded, err)
			}
			if got := s.ask(t, wantReused, n); got != n*6 {
				t.Errorf("%s, chunks of %d: %d of %d parts are right, with line and order", name, chunk, got, n*6)
			}
			if got := s.ask(t, `select count(*) from orders where tags = array['a' || (id - 1000000), 'b' || (id - 1000000)]`); method == pgxtype.Copy && got != n {
				t.Errorf("%s, chunks of %d: the tags of %d orders are right", name, chunk, got)
			}
		}
	}
}

// Errors name the right row, although its memory holds another row by then, and Retry
// recognizes equal rows.
func TestLoadReuseErrors(t *testing.T) {
	const n, at = 50, 33
	for name, method := range methods {
		for _, tt := range []struct {
			name  string
			bad   func(o *reused, i int)
			table string
			row   int64
			shows string
		}{
			{"key of an order", func(o *reused, i int) {
				if i == at {
					*o.ID = 1_000_000 + 5
				}
			}, "orders", at, "(id)=(1000005)"},
			{"foreign key", func(o *reused, i int) {
				if i == at {
					*o.Lines[1].OrderID = 99
				}
			}, "lines", 3*at + 1, "(order_id)=(99)"},
			{"foreign key of a row that is streamed", func(o *reused, i int) {
				if i == at {
					*o.More[2].OrderID = 98
				}
			}, "more", 3*at + 2, "(order_id)=(98)"},
			{"foreign key of a part", func(o *reused, i int) {
				if i == at {
					o.Lines[2].Parts[1].LineID = 97
				}
			}, "parts", 6*at + 5, "(line_id)=(97)"},
			{"check", func(o *reused, i int) {
				if i == at {
					o.More[1].SKU = []byte("bad")
				}
			}, "more", 3*at + 1, "bad"},
			{"negative key", func(o *reused, i int) {
				if i == at {
					*o.Lines[0].ID = -3
				}
			}, "lines", 3 * at, "-3"},
		} {
			t.Run(tt.name, func(t *testing.T) {
				for _, chunk := range []int{0, 40} {
					s := newShop(t, pgx.QueryExecModeCacheStatement, true, strings.Replace(reusedTables, "text[] not null", "text[]", 1))
					_, err := pgxtype.Load(t.Context(), s.pool, reuse(n, tt.bad), reusedConfig(method, chunk))
					var e *pgxtype.LoadError
					if !errors.As(err, &e) || e.Table[0] != tt.table || e.Row != tt.row || e.Parent != at || !strings.Contains(err.Error(), tt.shows) {
						t.Errorf("%s, %s, chunks of %d: %v", name, tt.name, chunk, err)
					}
					if got := s.ask(t, `select count(*) from orders`); got != 0 {
						t.Errorf("%s, %s: %d orders stayed", name, tt.name, got)
					}
				}
			})
		}
		s := newShop(t, pgx.QueryExecModeCacheStatement, true, strings.Replace(reusedTables, "text[] not null", "text[]", 1))
		runs := 0
		err := pgxtype.Retry(t.Context(), s.pool, pgxtype.RetryConfig{}, func(tx pgx.Tx) error {
			runs++
			if _, err := pgxtype.Load(t.Context(), tx, reuse(n, nil), reusedConfig(method, 40)); err != nil {
				return err
			}
			if runs < 3 {
				return &pgconn.PgError{Severity: "ERROR", Code: "40001"}
			}
			return nil
		})
		if got := s.ask(t, wantReused, n); err != nil || got != n*6 || runs != 3 {
			t.Errorf("%s, Retry: %d of %d parts are right after %d runs, %v", name, got, n*6, runs, err)
		}
	}
}

// A struct that is given by value may have the slice of the one before.
func TestLoadReuseLines(t *testing.T) {
	for name, method := range methods {
		s := newShop(t, pgx.QueryExecModeCacheStatement, true, shopTables)
		want := makeOrders(40, 3)
		loaded, err := pgxtype.Load(t.Context(), s.pool, func(yield func(order, error) bool) {
			var o order
			for i := range want {
				lines := o.Lines[:0]
				lines = append(lines, want[i].Lines...)
				o = want[i]
				o.Lines = lines
				if !yield(o, nil) {
					return
				}
			}
		}, shopConfig(method))
		if got := s.stored(t); err != nil || loaded.Rows != 160 || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v; the orders came back otherwise", name, loaded, err)
		}
	}
}
