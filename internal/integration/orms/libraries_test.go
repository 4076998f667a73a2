package orms

import (
	"database/sql"
	"fmt"
	"io"
	"log"
	"testing"

	"github.com/Masterminds/squirrel"
	"github.com/doug-martin/goqu/v9"
	_ "github.com/doug-martin/goqu/v9/dialect/postgres" // its placeholders
	jet "github.com/go-jet/jet/v2/postgres"
	"github.com/lib/pq"
	"github.com/upper/db/v4"
	"github.com/upper/db/v4/adapter/postgresql"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
	"xorm.io/xorm"
	xlog "xorm.io/xorm/log"

	"github.com/seed-299c1d6b/snowkey/internal/integration/orms/shop"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type (
	ID      = sqltype.ID
	NullID  = sqltype.NullID
	Key     = shop.OrderKey
	NullKey = shop.NullOrderKey
)

// A row is written and read by all libraries, with their tags. K is an ID and N a NullID, or they
// are a Key and a NullKey.
type row[K ~int64, N any] struct {
	ID     K  `db:"id" alias:"rows.id"`
	NullID N  `db:"null_id" alias:"rows.null_id"`
	Ptr    *K `db:"ptr" alias:"rows.ptr"`
}

type bunRow[K ~int64, N any] struct {
	bun.BaseModel `bun:"table:rows,alias:r"`
	ID            K  `bun:"id,pk"`
	NullID        N  `bun:"null_id"`
	Ptr           *K `bun:"ptr"`
}

type bunTagged[K ~int64, N any] struct {
	bun.BaseModel `bun:"table:rows,alias:r"`
	ID            K  `bun:"id,pk"`
	NullID        N  `bun:"null_id,type:bigint"`
	Ptr           *K `bun:"ptr"`
}

type xormRow[K ~int64, N any] struct {
	ID     K  `xorm:"pk 'id'"`
	NullID N  `xorm:"'null_id'"`
	Ptr    *K `xorm:"'ptr'"`
}

type xormTagged[K ~int64, N any] struct {
	ID     K  `xorm:"pk 'id'"`
	NullID N  `xorm:"bigint 'null_id'"`
	Ptr    *K `xorm:"'ptr'"`
}

func (xormRow[K, N]) TableName() string    { return "rows" }
func (xormTagged[K, N]) TableName() string { return "rows" }

// A library writes rows and finds them; create and tagged are nil where it makes no
// tables, and find where its conditions take no values of Go.
type library[K ~int64, N any] struct {
	name           string
	create, tagged func() error
	insert         func(...row[K, N]) error
	find           func(column string, v any) ([]row[K, N], error)
	all            func() ([]row[K, N], error)
}

func libraries[K ~int64, N any](t *testing.T, pool *sql.DB, dsn string) []library[K, N] {
	t.Helper()
	ctx := t.Context()
	b := bun.NewDB(pool, pgdialect.New())
	x, err := xorm.NewEngine("postgres", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = x.Close() })
	x.SetLogger(xlog.DiscardLogger{})
	db.LC().SetLogger(log.New(io.Discard, "", 0)) // it logs every error
	u, err := postgresql.New(pool)
	if err != nil {
		t.Fatal(err)
	}
	g := goqu.New("postgres", pool)
	sq := squirrel.StatementBuilder.PlaceholderFormat(squirrel.Dollar).RunWith(pool)
	id, null, ptr := jet.IntegerColumn("id"), jet.IntegerColumn("null_id"), jet.IntegerColumn("ptr")
	table := jet.NewTable("public", "rows", "", id, null, ptr)

	read := func(query string, args ...any) (list []row[K, N], _ error) {
		rows, err := pool.QueryContext(ctx, query, args...)
		if err != nil {
			return nil, err
		}
		defer rows.Close()
		for rows.Next() {
			var r row[K, N]
			if err := rows.Scan(&r.ID, &r.NullID, &r.Ptr); err != nil {
				return nil, err
			}
			list = append(list, r)
		}
		return list, rows.Err()
	}
	fromBun := func(rows []bunRow[K, N], err error) (list []row[K, N], _ error) {
		for _, r := range rows {
			list = append(list, row[K, N]{r.ID, r.NullID, r.Ptr})
		}
		return list, err
	}
	fromXorm := func(rows []xormRow[K, N], err error) (list []row[K, N], _ error) {
		for _, r := range rows {
			list = append(list, row[K, N](r))
		}
		return list, err
	}
	return []library[K, N]{
		{
			name: "lib/pq",
			insert: func(rows ...row[K, N]) error {
				for _, r := range rows {
					if _, err := pool.ExecContext(ctx, `INSERT INTO rows VALUES ($1, $2, $3)`, r.ID, r.NullID, r.Ptr); err != nil {
						return err
					}
				}
				return nil
			},
			find: func(column string, v any) ([]row[K, N], error) {
				if ids, ok := v.([]K); ok {
					return read(`SELECT * FROM rows WHERE `+column+` = ANY($1) ORDER BY id`, pq.Array(ids))
				}
				return read(`SELECT * FROM rows WHERE `+column+` = $1 ORDER BY id`, v)
			},
			all: func() ([]row[K, N], error) { return read(`SELECT * FROM rows ORDER BY id`) },
		},
		{
			name:   "bun",
			create: func() error { _, err := b.NewCreateTable().Model((*bunRow[K, N])(nil)).Exec(ctx); return err },
			tagged: func() error { _, err := b.NewCreateTable().Model((*bunTagged[K, N])(nil)).Exec(ctx); return err },
			insert: func(rows ...row[K, N]) error {
				var list []bunRow[K, N]
				for _, r := range rows {
					list = append(list, bunRow[K, N]{ID: r.ID, NullID: r.NullID, Ptr: r.Ptr})
				}
				_, err := b.NewInsert().Model(&list).Exec(ctx)
				return err
			},
			find: func(column string, v any) ([]row[K, N], error) {
				var rows []bunRow[K, N]
				where := "? = ?"
				if ids, ok := v.([]K); ok {
					where, v = "? IN (?)", bun.List(ids)
				}
				err := b.NewSelect().Model(&rows).Where(where, bun.Ident(column), v).Order("id").Scan(ctx)
				return fromBun(rows, err)
			},
			all: func() ([]row[K, N], error) {
				var rows []bunRow[K, N]
				err := b.NewSelect().Model(&rows).Order("id").Scan(ctx)
				return fromBun(rows, err)
			},
		},
		{
			name:   "xorm",
			create: func() error { return x.Sync(new(xormRow[K, N])) },
			tagged: func() error { return x.Sync(new(xormTagged[K, N])) },
			insert: func(rows ...row[K, N]) error {
				for _, r := range rows {
					if _, err := x.Insert((*xormRow[K, N])(&r)); err != nil {
						return err
					}
				}
				return nil
			},
			find: func(column string, v any) ([]row[K, N], error) {
				var rows []xormRow[K, N]
				query := x.Where(column+" = ?", v)
				if ids, ok := v.([]K); ok {
					query = x.In(column, ids)
				}
				err := query.Asc("id").Find(&rows)
				return fromXorm(rows, err)
			},
			all: func() ([]row[K, N], error) {
				var rows []xormRow[K, N]
				err := x.Asc("id").Find(&rows)
				return fromXorm(rows, err)
			},
		},
		{
			name: "upper/db",
			insert: func(rows ...row[K, N]) error {
				for _, r := range rows {
					if _, err := u.Collection("rows").Insert(r); err != nil {
						return err
					}
				}
				return nil
			},
			find: func(column string, v any) (rows []row[K, N], err error) {
				if _, ok := v.([]K); ok {
					column += " IN"
				}
				err = u.Collection("rows").Find(db.Cond{column: v}).OrderBy("id").All(&rows)
				return rows, err
			},
			all: func() (rows []row[K, N], err error) {
				err = u.Collection("rows").Find().OrderBy("id").All(&rows)
				return rows, err
			},
		},
		{
			name: "squirrel",
			insert: func(rows ...row[K, N]) error {
				insert := sq.Insert("rows")
				for _, r := range rows {
					insert = insert.Values(r.ID, r.NullID, r.Ptr)
				}
				_, err := insert.ExecContext(ctx)
				return err
			},
			find: func(column string, v any) ([]row[K, N], error) {
				query, args, err := sq.Select("*").From("rows").Where(squirrel.Eq{column: v}).OrderBy("id").ToSql()
				if err != nil {
					return nil, err
				}
				return read(query, args...)
			},
			all: func() ([]row[K, N], error) { return read(`SELECT * FROM rows ORDER BY id`) },
		},
		{
			name: "goqu",
			insert: func(rows ...row[K, N]) error {
				_, err := g.Insert("rows").Rows(rows).Executor().ExecContext(ctx)
				return err
			},
			find: func(column string, v any) (rows []row[K, N], err error) {
				err = g.From("rows").Where(goqu.Ex{column: v}).Order(goqu.C("id").Asc()).ScanStructsContext(ctx, &rows)
				return rows, err
			},
			all: func() (rows []row[K, N], err error) {
				err = g.From("rows").Order(goqu.C("id").Asc()).ScanStructsContext(ctx, &rows)
				return rows, err
			},
		},
		{
			name: "go-jet",
			insert: func(rows ...row[K, N]) error {
				_, err := table.INSERT(id, null, ptr).MODELS(rows).ExecContext(ctx, pool)
				return err
			},
			all: func() ([]row[K, N], error) {
				var rows []row[K, N]
				err := jet.SELECT(id, null, ptr).FROM(table).WHERE(id.IN(jet.Int64(ID(7).Int64()), jet.Int64(1))).ORDER_BY(id).QueryContext(ctx, pool, &rows)
				return rows, err
			},
		},
	}
}

// caught makes an error of a panic.
func caught[T any](f func() (T, error)) (v T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panics: %v", p)
		}
	}()
	return f()
}
