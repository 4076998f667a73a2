package pgxtype_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seed-299c1d6b/snowkey/pgxtype"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

var errSource = errors.New("the source is at fault")

// Each fault is named by table, row and column, and leaves nothing behind. Of 30
// orders with 5 lines, 8 orders to a chunk, the fault is in order 20, which is
// the fifth of the third chunk, or in its line 3, which is line 103 of all.
func TestLoadErrors(t *testing.T) {
	const o, l = 20, 3
	const extra = shopTables + `
	create table pairs (a bigint, b bigint, primary key (a, b));
	create table notes (order_id bigint, line_id bigint, foreign key (order_id, line_id) references pairs);
	create table late (order_id bigint references orders deferrable initially deferred);
	create function picky() returns trigger language plpgsql as 'begin if new.quantity = 77 then raise exception ''seventy-seven''; end if; return new; end';
	create trigger picky before insert on lines for each row execute function picky()`
	details := func(name string, columns []string, values func(*line, []any) []any) pgxtype.Table[order] {
		return pgxtype.ChildTable(pgx.Identifier{name}, columns, func(o *order) []line { return o.Lines }, values)
	}
	for _, tt := range []struct {
		name   string
		change func(orders []order, cfg *pgxtype.LoadConfig[order])
		table  string
		row    int64
		parent int64
		column string // any, where PostgreSQL may not tell
		state  string // or
		is     error  // what it wraps
		shows  string
	}{
		{"duplicate parent", func(orders []order, _ *pgxtype.LoadConfig[order]) { orders[o].ID = orders[0].ID },
			"orders", 20, 20, "", "23505", nil, "Key (id)=(1001) already exists"},
		{"duplicate in one chunk", func(orders []order, _ *pgxtype.LoadConfig[order]) { orders[o].Lines[l].ID = orders[o-1].Lines[0].ID },
			"lines", 103, 20, "", "23505", nil, "already exists"},
		{"duplicate sku", func(orders []order, _ *pgxtype.LoadConfig[order]) { orders[o].Lines[l].SKU = orders[o].Lines[l-1].SKU },
			"lines", 103, 20, "", "23505", nil, "Key (sku)"},
		{"foreign key", func(orders []order, _ *pgxtype.LoadConfig[order]) { orders[o].Lines[l].OrderID = 7 },
			"lines", 103, 20, "", "23503", nil, `Key (order_id)=(7) is not present in table "orders"`},
		{"foreign key to itself", func(orders []order, _ *pgxtype.LoadConfig[order]) { orders[o].ParentID = valid(7) },
			"orders", 20, 20, "", "23503", nil, "(parent_id)=(7)"},
		{"composite foreign key", func(orders []order, cfg *pgxtype.LoadConfig[order]) {
			cfg.Tables = []pgxtype.Table[order]{
				details("pairs", []string{"a", "b"}, func(l *line, row []any) []any { return append(row, l.OrderID, l.ID) }),
				details("notes", []string{"line_id", "order_id"}, func(d *line, row []any) []any {
					if d.ID == orders[o].Lines[l].ID {
						return append(row, d.ID+1000, d.OrderID)
					}
					return append(row, d.ID, d.OrderID)
				}),
			}
		}, "notes", 103, 20, "", "23503", nil, "is not present"},
		{"deferred foreign key", func(_ []order, cfg *pgxtype.LoadConfig[order]) {
			cfg.Tables = append(cfg.Tables, details("late", []string{"order_id"}, func(l *line, row []any) []any { return append(row, l.ID) }))
		}, "late", -1, -1, "", "23503", nil, "is not present"},
		{"NULL", func(_ []order, cfg *pgxtype.LoadConfig[order]) {
			cfg.Tables[1] = details("lines", lineColumns, func(d *line, row []any) []any {
				if d.Quantity == l+1 && d.OrderID == 1000+20*6+1 {
					return append(row, d.ID, d.OrderID, nil, d.Quantity)
				}
				return lineValues(d, row)
			})
		}, "lines", 103, 20, "sku", "23502", nil, "null value"},
		{"check", func(orders []order, _ *pgxtype.LoadConfig[order]) { orders[o].Lines[l].Quantity = 0 },
			"lines", 103, 20, "", "23514", nil, "quantity"},
		{"check of a parent", func(orders []order, _ *pgxtype.LoadConfig[order]) { orders[o].Note = ptr("bad") },
			"orders", 20, 20, "", "23514", nil, "note"},
		{"too long", func(orders []order, _ *pgxtype.LoadConfig[order]) { orders[o].Lines[l].SKU = "123456789" },
			"lines", 103, 20, "any", "22001", nil, "too long"},
		{"trigger", func(orders []order, _ *pgxtype.LoadConfig[order]) { orders[o].Lines[l].Quantity = 77 },
			"lines", 103, 20, "", "P0001", nil, "seventy-seven"},
		{"negative id", func(orders []order, _ *pgxtype.LoadConfig[order]) { orders[o].Lines[l].ID = -5 },
			"lines", 103, 20, "id", "", sqltype.ErrNegative, "-5"},
		{"int4 overflow", func(orders []order, _ *pgxtype.LoadConfig[order]) { orders[o].Lines[l].Quantity = 1 << 40 },
			"lines", 103, 20, "quantity", "", nil, "1099511627776"},
		{"no such encoding", func(orders []order, cfg *pgxtype.LoadConfig[order]) {
			cfg.Tables[0] = pgxtype.ParentTable(pgx.Identifier{"orders"}, orderColumns, func(m *order, row []any) []any {
				if m.ID == orders[o].ID {
					return append(row, m.ID, struct{ X chan int }{}, nil, "yesterday")
				}
				return orderValues(m, row)
			})
		}, "orders", 20, 20, "parent_id", "", nil, "chan int"},
		{"text that is no time", func(orders []order, cfg *pgxtype.LoadConfig[order]) {
			cfg.Tables[0] = pgxtype.ParentTable(pgx.Identifier{"orders"}, orderColumns, func(m *order, row []any) []any {
				if m.ID == orders[o].ID {
					return append(row, m.ID, nil, nil, "yesterday, perhaps")
				}
				return orderValues(m, row)
			})
		}, "orders", 20, 20, "placed_at", "", nil, "yesterday, perhaps"},
		{"too few values", func(orders []order, cfg *pgxtype.LoadConfig[order]) {
			cfg.Tables[1] = details("lines", lineColumns, func(d *line, row []any) []any {
				if d.ID == orders[o].Lines[l].ID {
					return append(row, d.ID)
				}
				return lineValues(d, row)
			})
		}, "lines", 103, 20, "", "", nil, "1 values for 4 columns"},
		{"sequence of details", func(_ []order, cfg *pgxtype.LoadConfig[order]) {
			cfg.Tables[1] = pgxtype.ChildTableSeq(pgx.Identifier{"lines"}, lineColumns, func(m *order) iter.Seq2[line, error] {
				return func(yield func(line, error) bool) {
					for i, d := range m.Lines {
						var err error
						if i == l && m.ID == 1000+20*6+1 {
							err = errSource
						}
						if !yield(d, err) {
							return
						}
					}
				}
			}, lineValues)
		}, "lines", 103, 20, "", "", errSource, "at fault"},
		{"no such table", func(_ []order, cfg *pgxtype.LoadConfig[order]) { cfg.Tables = orderTables("orders", "absent") },
			"absent", -1, -1, "", "42P01", nil, `"absent"`},
		{"no such column", func(_ []order, cfg *pgxtype.LoadConfig[order]) {
			cfg.Tables[0] = pgxtype.ParentTable(pgx.Identifier{"orders"}, []string{"ID"}, func(m *order, row []any) []any { return append(row, m.ID) })
		}, "orders", -1, -1, "", "42703", nil, `"ID"`},
	} {
		for name, method := range methods {
			for _, register := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s/%s/registered=%v", tt.name, name, register), func(t *testing.T) {
					s := newShop(t, pgx.QueryExecModeCacheStatement, register, extra)
					orders := makeOrders(30, 5)
					cfg := shopConfig(method)
					cfg.ChunkRows = 48
					tt.change(orders, &cfg)
					loaded, err := pgxtype.Load(t.Context(), s.pool, pgxtype.Seq(slices.Values(orders)), cfg)
					var at *pgxtype.LoadError
					if !errors.As(err, &at) {
						t.Fatalf("%v", err)
					}
					if at.Table.Sanitize() != (pgx.Identifier{tt.table}).Sanitize() || at.Row != tt.row || at.Parent != tt.parent || at.Column != tt.column && tt.column != "any" {
						t.Errorf("%+v, want table %s, row %d, parent %d, column %s", *at, tt.table, tt.row, tt.parent, tt.column)
					}
					var pg *pgconn.PgError
					if errors.As(err, &pg) && pg.Code != tt.state || tt.state != "" && pg == nil || tt.is != nil && !errors.Is(err, tt.is) {
						t.Errorf("%v", err)
					}
					text := err.Error()
					for _, part := range []string{"pgxtype: load", tt.table, tt.shows} {
						if !strings.Contains(text, part) {
							t.Errorf("%q does not contain %q", text, part)
						}
					}
					if tt.row >= 0 && !strings.Contains(text, fmt.Sprintf("row %d of parent %d", tt.row, tt.parent)) {
						t.Errorf("%q does not contain the row", text)
					}
					if loaded.Parents != 0 || loaded.Rows != 0 || loaded.Tables != nil {
						t.Errorf("%+v", loaded)
					}
					s.empty(t)
				})
			}
		}
	}
}

func TestLoadMastersError(t *testing.T) {
	s := newShop(t, pgx.QueryExecModeCacheStatement, true, shopTables)
	for name, method := range methods {
		cfg := shopConfig(method)
		cfg.ChunkRows = 10
		_, err := pgxtype.Load(t.Context(), s.pool, func(yield func(order, error) bool) {
			for i, o := range makeOrders(30, 5) {
				var err error
				if i == 17 {
					err = errSource
				}
				if !yield(o, err) {
					return
				}
			}
			t.Error("the sequence was run on after its error")
		}, cfg)
		if !errors.Is(err, errSource) || !strings.Contains(err.Error(), "parent 17") {
			t.Errorf("%s: %v", name, err)
		}
		s.empty(t)
	}
}

// One error lists all that is wrong, before a transaction begins.
func TestLoadConfig(t *testing.T) {
	values := func(_ *order, row []any) []any { return row }
	name := pgx.Identifier{"t"}
	cfg := pgxtype.LoadConfig[order]{Method: 2, ChunkRows: -1, ChunkBytes: -5, Tables: []pgxtype.Table[order]{
		{},
		pgxtype.ParentTable[order](name, []string{"a"}, nil),
		pgxtype.ChildTable[order, line](name, []string{"a"}, nil, nil),
		pgxtype.ChildTableSeq[order](name, []string{"a"}, func(*order) iter.Seq2[line, error] { return nil }, nil),
		pgxtype.ChildTableSeq[order, line](name, []string{"a"}, nil, nil),
		pgxtype.ParentTable(nil, []string{"a"}, values),
		pgxtype.ParentTable(pgx.Identifier{"x", ""}, []string{"a"}, values),
		pgxtype.ParentTable(pgx.Identifier{"a\x00b"}, []string{"a"}, values),
		pgxtype.ParentTable(name, nil, values),
		pgxtype.ParentTable(name, []string{"a", "b", "a"}, values),
		pgxtype.ParentTable(name, []string{"a", ""}, values),
		pgxtype.ParentTable(name, []string{"\x00"}, values),
	}}
	_, err := pgxtype.Load(t.Context(), nil, nil, cfg)
	for _, want := range []string{
		"pgxtype: ", "db nil: is required", "parents nil: is required", "Method 2", "ChunkRows -1", "ChunkBytes -5", "Tables[0] nil: is the zero Table", "Tables[1].values nil: is required",
		"Tables[2].list nil: is required", "Tables[3].values nil: is required", "Tables[4].rows nil: is required", "Tables[5].name nil: is required",
		`Tables[6].name "": must not be empty or contain a NUL`, `Tables[7].name "a\x00b"`, "Tables[8].columns nil: is required", `Tables[9].columns[2] "a": must be unique`, `Tables[10].columns[1] ""`, `Tables[11].columns[0] "\x00"`,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\ndoes not contain %q", err, want)
		}
	}
	_, err = pgxtype.Load(t.Context(), (*pgx.Conn)(nil), pgxtype.Seq[order](nil), pgxtype.LoadConfig[order]{})
	if err == nil || !strings.Contains(err.Error(), "Tables nil: is required") || !strings.Contains(err.Error(), "parents nil: is required") {
		t.Error(err)
	}
	good := pgxtype.LoadConfig[order]{Tables: orderTables("orders", "lines")}
	for _, db := range []pgxtype.Beginner{(*pgx.Conn)(nil), (*pgxpool.Pool)(nil), (*pgxpool.Tx)(nil)} {
		if _, err := pgxtype.Load(t.Context(), db, pgxtype.Seq(slices.Values([]order{})), good); err == nil || !strings.Contains(err.Error(), "db nil: is required") {
			t.Errorf("%T: %v", db, err)
		}
	}
}

// A batch that is sent in parts is one chunk all the same: what was refused in a
// later part is found by its index among all.
func TestLoadLargeRows(t *testing.T) {
	const rows, size = 100, 1 << 20
	for name, method := range methods {
		s := newShop(t, pgx.QueryExecModeCacheStatement, true, `create unlogged table blobs (id bigint primary key, data bytea)`)
		ids := make([]ID, rows)
		for i := range ids {
			ids[i] = ID(i + 1)
		}
		data := make([]byte, size)
		before, peak := heap(), int64(0)
		cfg := pgxtype.LoadConfig[ID]{Method: method, Tables: []pgxtype.Table[ID]{
			pgxtype.ParentTable(pgx.Identifier{"blobs"}, []string{"id", "data"}, func(id *ID, row []any) []any {
				if *id%15 == 0 {
					peak = max(peak, heap()-before)
				}
				data[0] = byte(*id) // reused: what is appended is encoded at once
				return append(row, id, &data)
			}),
		}}
		if loaded, err := pgxtype.Load(t.Context(), s.pool, pgxtype.Seq(slices.Values(ids)), cfg); err != nil || loaded.Rows != rows {
			t.Fatalf("%s: %+v, %v", name, loaded, err)
		}
		if peak > 80<<20 {
			t.Errorf("%s: the heap grew by %d MB for %d rows of a megabyte", name, peak>>20, rows)
		}
		if n := s.ask(t, `select count(*) from blobs where get_byte(data, 0) = id and length(data) = $1`, size); n != rows {
			t.Errorf("%s: %d rows are right", name, n)
		}
		if _, err := s.pool.Exec(t.Context(), `truncate blobs`); err != nil {
			t.Fatal(err)
		}
		ids[rows-2] = 3
		_, err := pgxtype.Load(t.Context(), s.pool, pgxtype.Seq(slices.Values(ids)), cfg)
		var at *pgxtype.LoadError
		if !errors.As(err, &at) || at.Row != rows-2 || at.Parent != rows-2 || !strings.Contains(err.Error(), "(id)=(3)") {
			t.Errorf("%s: %v", name, err)
		}
		if n := s.ask(t, `select count(*) from blobs`); n != 0 {
			t.Errorf("%s: %d rows stayed", name, n)
		}
	}
}

// One parent that is larger than a chunk is sent in parts, except by COPY of what is in
// memory anyway. Its rows are counted through all parts.
func TestLoadLargeMaster(t *testing.T) {
	const rows, size = 60, 64 << 10
	columns := []string{"id", "data"}
	data := make([]byte, size)
	values := func(id *ID, row []any) []any { return append(row, id, &data) }
	for name, method := range methods {
		for shape, table := range map[string]pgxtype.Table[[]ID]{
			"list":     pgxtype.ChildTable(pgx.Identifier{"blobs"}, columns, func(ids *[]ID) []ID { return *ids }, values),
			"sequence": pgxtype.ChildTableSeq(pgx.Identifier{"blobs"}, columns, func(ids *[]ID) iter.Seq2[ID, error] { return pgxtype.Seq(slices.Values(*ids)) }, values),
		} {
			s := newShop(t, pgx.QueryExecModeCacheStatement, true, `create unlogged table blobs (id bigint primary key, data bytea)`)
			ids := make([]ID, rows)
			for i := range ids {
				ids[i] = ID(i + 1)
			}
			var told []int64
			cfg := pgxtype.LoadConfig[[]ID]{Method: method, ChunkBytes: 8 * size, Tables: []pgxtype.Table[[]ID]{table}, Progress: func(l pgxtype.Loaded) {
				if told = append(told, l.Rows); l.Parents != l.Rows/rows {
					t.Errorf("%s, %s: %+v", name, shape, l)
				}
			}}
			want := []int64{8, 16, 24, 32, 40, 48, 56, 60}
			if method == pgxtype.Copy && shape == "list" {
				want = want[7:]
			}
			loaded, err := pgxtype.Load(t.Context(), s.pool, pgxtype.Seq(slices.Values([][]ID{ids})), cfg)
			if err != nil || loaded.Rows != rows || loaded.Parents != 1 || !slices.Equal(told, want) {
				t.Errorf("%s, %s: %+v, %d, %v", name, shape, loaded, told, err)
			}
			if _, err := s.pool.Exec(t.Context(), `truncate blobs`); err != nil {
				t.Fatal(err)
			}
			other := slices.Clone(ids)
			for i := range other {
				other[i] += 1000
			}
			other[rows-2] = 1005
			cfg.Progress = nil
			var at *pgxtype.LoadError
			if _, err := pgxtype.Load(t.Context(), s.pool, pgxtype.Seq(slices.Values([][]ID{ids, other})), cfg); !errors.As(err, &at) || at.Row != 2*rows-2 || at.Parent != 1 {
				t.Errorf("%s, %s: %v", name, shape, err)
			}
		}
	}
}

// COPY refuses a table with row level security; unnest is for such.
func TestLoadRowSecurity(t *testing.T) {
	s := newShop(t, pgx.QueryExecModeCacheStatement, true, `create table secured (id bigint primary key, tenant int);
		alter table secured enable row level security;
		create policy mine on secured using (tenant = 1)`)
	role := strings.Replace(s.schema, "shop", "role", 1)
	for _, sql := range []string{`create role ` + role, `grant usage on schema ` + s.schema + ` to ` + role, `grant select, insert on secured to ` + role} {
		if _, err := s.pool.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if _, err := s.pool.Exec(context.Background(), `drop owned by `+role+`; drop role `+role); err != nil {
			t.Error(err)
		}
	})
	type row struct {
		ID     ID
		Tenant int
	}
	load := func(method pgxtype.Method, rows ...row) error {
		return pgx.BeginFunc(t.Context(), s.pool, func(tx pgx.Tx) error {
			if _, err := tx.Exec(t.Context(), `set local role `+role); err != nil {
				return err
			}
			_, err := pgxtype.Load(t.Context(), tx, pgxtype.Seq(slices.Values(rows)), pgxtype.LoadConfig[row]{Method: method, Tables: []pgxtype.Table[row]{
				pgxtype.ParentTable(pgx.Identifier{"secured"}, []string{"id", "tenant"}, func(r *row, out []any) []any { return append(out, r.ID, r.Tenant) }),
			}})
			return err
		})
	}
	var pg *pgconn.PgError
	if err := load(pgxtype.Copy, row{1, 1}); !errors.As(err, &pg) || pg.Code != "0A000" || !strings.Contains(err.Error(), `"secured"`) {
		t.Errorf("copy: %v", err)
	}
	if err := load(pgxtype.Unnest, row{1, 1}, row{2, 1}); err != nil {
		t.Errorf("unnest: %v", err)
	}
	if err := load(pgxtype.Unnest, row{3, 1}, row{4, 2}); !errors.As(err, &pg) || pg.Code != "42501" {
		t.Errorf("another's row: %v", err)
	}
	// COPY is refused, so Load finds the row by trial.
	var at *pgxtype.LoadError
	if err := load(pgxtype.Unnest, row{3, 1}, row{4, 2}, row{5, 1}); !errors.As(err, &at) || at.Row != 1 || !strings.Contains(err.Error(), "42501") {
		t.Errorf("another's row: %v", err)
	}
	if err := load(pgxtype.Unnest, row{3, 1}, row{4, 1}, row{5, 1}, row{1, 1}, row{6, 1}); !errors.As(err, &at) || at.Row != 3 || !strings.Contains(err.Error(), "23505") {
		t.Errorf("twice: %v", err)
	}
	if n := s.ask(t, `select count(*) from secured`); n != 2 {
		t.Errorf("%d rows", n)
	}
}
