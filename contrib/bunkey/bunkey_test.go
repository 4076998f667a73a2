package bunkey_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"strings"
	"testing"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"
	"github.com/uptrace/bun/dialect/feature"
	"github.com/uptrace/bun/migrate/sqlschema"
	"github.com/uptrace/bun/schema"

	"github.com/seed-299c1d6b/snowkey/contrib/bunkey"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Order has a typed key.
type Order struct {
	bunkey.Hook
	ID       sqltype.Key[Order] `bun:",pk,autoincrement"`
	Number   string
	ParentID sqltype.NullKey[Order]
}

// Base is embedded.
type Base struct {
	bunkey.Hook
	ID sqltype.ID `bun:",pk"`
}

type Line struct {
	Base
	OrderID sqltype.Key[Order]
	Labels  []string
}

// Bare has no hook.
type Bare struct {
	ID   sqltype.ID `bun:",pk"`
	Next sqltype.NullID
	Wide sqltype.NullID `bun:"type:numeric"`
}

// Pair has two columns as its key, Text another type.
type (
	Pair struct {
		bunkey.Hook
		A, B sqltype.ID `bun:",pk"`
	}
	Text struct {
		bunkey.Hook
		ID string `bun:",pk"`
	}
)

// Own has its own hook.
type Own struct {
	Base
	calls int
}

func (o *Own) BeforeInsert(ctx context.Context, query *bun.InsertQuery) error {
	model := query.GetModel().Value().(*Own)
	model.calls++
	return o.Base.BeforeInsert(ctx, query)
}

// recorder is a database that accepts everything, and keeps what it is sent.
type recorder struct{ queries []string }

func (r *recorder) Connect(context.Context) (driver.Conn, error) { return r, nil }
func (r *recorder) Driver() driver.Driver                        { return nil }
func (r *recorder) Prepare(string) (driver.Stmt, error)          { return nil, errors.ErrUnsupported }
func (r *recorder) Begin() (driver.Tx, error)                    { return nil, errors.ErrUnsupported }
func (r *recorder) Close() error                                 { return nil }

func (r *recorder) ExecContext(_ context.Context, query string, _ []driver.NamedValue) (driver.Result, error) {
	r.queries = append(r.queries, query)
	return driver.RowsAffected(1), nil
}

// plain is a dialect without anything.
type plain struct {
	schema.BaseDialect
	tables *schema.Tables
}

func newPlain() *plain {
	d := &plain{}
	d.tables = schema.NewTables(d)
	return d
}

func (*plain) Init(*sql.DB)              {}
func (*plain) Name() dialect.Name        { return dialect.SQLite }
func (*plain) Features() feature.Feature { return feature.AutoIncrement }
func (d *plain) Tables() *schema.Tables  { return d.tables }
func (*plain) IdentQuote() byte          { return '"' }
func (*plain) DefaultVarcharLen() int    { return 0 }
func (*plain) DefaultSchema() string     { return "main" }
func (*plain) AppendSequence(b []byte, _ *schema.Table, _ *schema.Field) []byte {
	return append(b, " COUNTED"...)
}

func (*plain) OnTable(table *schema.Table) {
	for _, f := range table.FieldMap {
		f.DiscoveredSQLType = "INTEGER"
		if f.AutoIncrement {
			f.CreateTableSQLType = "SERIAL"
		}
	}
}

// rich is one with migrations.
type rich struct{ *plain }

func (*rich) NewInspector(*bun.DB, ...sqlschema.InspectorOption) sqlschema.Inspector { return nil }
func (*rich) CompareType(a, b sqlschema.Column) bool                                 { return a == b }
func (*rich) NewMigrator(*bun.DB, string) sqlschema.Migrator                         { return nil }

// counter is a source of ids that counts its calls.
type counter struct {
	last, calls int64
	err         error
}

func (c *counter) Fill(_ context.Context, ids []int64) error {
	c.calls++
	for i := range ids {
		c.last++
		ids[i] = c.last
	}
	return c.err
}

func (c *counter) Next(ctx context.Context) (int64, error) {
	var ids [1]int64
	err := c.Fill(ctx, ids[:])
	return ids[0], err
}

func open(t *testing.T, d schema.Dialect) (*bun.DB, *recorder) {
	t.Helper()
	r := &recorder{}
	pool := sql.OpenDB(r)
	t.Cleanup(func() { _ = pool.Close() })
	return bun.NewDB(pool, d), r
}

func TestHook(t *testing.T) {
	for name, c := range map[string]struct {
		model any
		want  string // in the INSERT
		calls int64
	}{
		"a struct":              {&Order{Number: "a"}, `VALUES (101, 'a', NULL)`, 1},
		"a slice":               {&[]Order{{Number: "a"}, {ID: 7, Number: "b"}, {Number: "c"}}, `VALUES (101, 'a', NULL), (7, 'b', NULL), (102, 'c', NULL)`, 1},
		"keys that are set":     {&[]Order{{ID: 7}, {ID: 8}}, `VALUES (7, '', NULL), (8, '', NULL)`, 0},
		"a row with a parent":   {&Order{ID: 7, ParentID: sqltype.NullKey[Order]{Key: 5, Valid: true}}, `VALUES (7, '', 5)`, 0},
		"an embedded key":       {&Line{OrderID: 7}, `VALUES (101, 7, `, 1},
		"a key of two columns":  {&Pair{A: 1}, `VALUES (1, 0)`, 0},
		"a key of another type": {&Text{ID: "x"}, `VALUES ('x')`, 0},
		"a map":                 {&map[string]any{"id": 7}, `VALUES (7)`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			src := &counter{last: 100}
			db, r := open(t, bunkey.Dialect(newPlain(), src))
			query := db.NewInsert().Model(c.model)
			if _, ok := c.model.(*map[string]any); ok {
				query = query.Table("orders")
			}
			_, err := query.Exec(t.Context())
			if err != nil || len(r.queries) != 1 || !strings.Contains(r.queries[0], c.want) || src.calls != c.calls {
				t.Errorf("%q, %v, %d calls; want %s, %d", r.queries, err, src.calls, c.want, c.calls)
			}
		})
	}
	own := &Own{}
	db, _ := open(t, bunkey.Dialect(newPlain(), &counter{}))
	if _, err := db.NewInsert().Model(own).Exec(t.Context()); err != nil || own.calls != 1 || own.ID != 1 {
		t.Errorf("%+v, %v", own, err)
	}
}

func TestErrors(t *testing.T) {
	broken := errors.New("no ids")
	for name, c := range map[string]struct {
		dialect schema.Dialect
		model   any
		want    error
		say     string
	}{
		"no source":         {newPlain(), &Order{}, nil, "bunkey.Dialect"},
		"nil":               {bunkey.Dialect(newPlain(), nil), &Order{}, sqltype.ErrNil, "Order"},
		"the source's":      {bunkey.Dialect(newPlain(), &counter{err: broken}), &Order{}, broken, "bunkey: Order"},
		"a negative key":    {bunkey.Dialect(newPlain(), &counter{}), &Order{ID: -5}, sqltype.ErrNegative, "-5"},
		"a nil row":         {bunkey.Dialect(newPlain(), &counter{}), &[]*Order{{}, nil}, nil, "row 1 is nil"},
		"a nil pointer":     {bunkey.Dialect(newPlain(), &counter{}), (*Order)(nil), nil, "nil"},
		"a struct by value": {bunkey.Dialect(newPlain(), &counter{}), Order{}, nil, "non-pointer"},
	} {
		t.Run(name, func(t *testing.T) {
			db, r := open(t, c.dialect)
			_, err := db.NewInsert().Model(c.model).Exec(t.Context())
			if err == nil || c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.say) || len(r.queries) != 0 {
				t.Errorf("%v, %q", err, r.queries)
			}
		})
	}
}

// A row without a key, and without a hook, has no key in the INSERT either; without the dialect it
// would have the key 0.
func TestNoHook(t *testing.T) {
	for _, c := range []struct {
		dialect schema.Dialect
		want    string
	}{
		{newPlain(), `("id", "next", "wide") VALUES (0, NULL, NULL)`},
		{bunkey.Dialect(newPlain(), &counter{}), `("next", "wide") VALUES (NULL, NULL)`},
	} {
		db, r := open(t, c.dialect)
		if _, err := db.NewInsert().Model(&Bare{}).Exec(t.Context()); err != nil || !strings.Contains(r.queries[0], c.want) {
			t.Errorf("%q, %v; want %s", r.queries, err, c.want)
		}
	}
}

func TestColumns(t *testing.T) {
	for want, model := range map[string]any{
		`CREATE TABLE "orders" ("id" BIGINT NOT NULL, "number" INTEGER, "parent_id" BIGINT, PRIMARY KEY ("id"))`: (*Order)(nil),
		`CREATE TABLE "bares" ("id" BIGINT NOT NULL, "next" BIGINT, "wide" numeric, PRIMARY KEY ("id"))`:         (*Bare)(nil),
	} {
		db, r := open(t, bunkey.Dialect(newPlain(), &counter{}))
		if _, err := db.NewCreateTable().Model(model).Exec(t.Context()); err != nil || r.queries[0] != want {
			t.Errorf("%q, %v", r.queries, err)
		}
	}
}

// bun's migrations find what the inner dialect has, and miss what it lacks.
func TestMigrations(t *testing.T) {
	d := bunkey.Dialect(&rich{newPlain()}, &counter{})
	inspector, ok := d.(sqlschema.InspectorDialect)
	migrator, can := d.(sqlschema.MigratorDialect)
	if !ok || !can || inspector.NewInspector(nil) != nil || migrator.NewMigrator(nil, "") != nil || !inspector.CompareType(nil, nil) {
		t.Errorf("%T", d)
	}
	if _, ok := bunkey.Dialect(newPlain(), &counter{}).(sqlschema.InspectorDialect); ok {
		t.Error("an inspector from nothing")
	}
}
