package orms

import (
	"database/sql"
	"fmt"
	"io"
	"log"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/Masterminds/squirrel"
	"github.com/doug-martin/goqu/v9"
	_ "github.com/doug-martin/goqu/v9/dialect/postgres" // its placeholders
	"github.com/lib/pq"
	"github.com/upper/db/v4"
	"github.com/upper/db/v4/adapter/postgresql"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
	"xorm.io/xorm"
	xlog "xorm.io/xorm/log"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type (
	ID     = sqltype.ID
	NullID = sqltype.NullID
)

// A row has the tags of several libraries.
type row struct {
	ID     ID     `db:"id"`
	NullID NullID `db:"null_id"`
	Ptr    *ID    `db:"ptr"`
}

type bunRow struct {
	bun.BaseModel `bun:"table:rows,alias:r"`
	ID            ID     `bun:"id,pk"`
	NullID        NullID `bun:"null_id"`
	Ptr           *ID    `bun:"ptr"`
}

type bunTagged struct {
	bun.BaseModel `bun:"table:rows,alias:r"`
	ID            ID     `bun:"id,pk"`
	NullID        NullID `bun:"null_id,type:bigint"`
	Ptr           *ID    `bun:"ptr"`
}

type xormRow struct {
	ID     ID     `xorm:"pk 'id'"`
	NullID NullID `xorm:"'null_id'"`
	Ptr    *ID    `xorm:"'ptr'"`
}

type xormTagged struct {
	ID     ID     `xorm:"pk 'id'"`
	NullID NullID `xorm:"bigint 'null_id'"`
	Ptr    *ID    `xorm:"'ptr'"`
}

func (xormRow) TableName() string    { return "rows" }
func (xormTagged) TableName() string { return "rows" }

// A library makes tables, if it does, and finds the rows whose column null_id equals a value.
type library struct {
	name           string
	create, tagged func() error
	find           func(v any) ([]ID, error)
}

func libraries(t *testing.T, pool *sql.DB, dsn string) []library {
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
	read := func(query string, args ...any) (ids []ID, err error) {
		err = pool.QueryRowContext(ctx, `SELECT array_agg(id) FROM (`+query+`) AS found`, args...).Scan(pq.Array(&ids))
		return ids, err
	}
	idsOf := func(rows []row, err error) ([]ID, error) {
		return converted(rows, func(r row) ID { return r.ID }), err
	}
	return []library{
		{name: "lib/pq", find: func(v any) ([]ID, error) { return read(`SELECT id FROM rows WHERE null_id = $1`, v) }},
		{
			name:   "bun",
			create: func() error { _, err := b.NewCreateTable().Model((*bunRow)(nil)).Exec(ctx); return err },
			tagged: func() error { _, err := b.NewCreateTable().Model((*bunTagged)(nil)).Exec(ctx); return err },
			find: func(v any) (ids []ID, err error) {
				err = b.NewSelect().Model((*bunRow)(nil)).Column("id").Where("null_id = ?", v).Scan(ctx, &ids)
				return ids, err
			},
		},
		{
			name:   "xorm",
			create: func() error { return x.Sync(new(xormRow)) },
			tagged: func() error { return x.Sync(new(xormTagged)) },
			find: func(v any) (ids []ID, err error) {
				err = x.Table("rows").Cols("id").Where("null_id = ?", v).Find(&ids)
				return ids, err
			},
		},
		{name: "upper/db", find: func(v any) ([]ID, error) {
			var rows []row
			err := u.Collection("rows").Find(db.Cond{"null_id": v}).All(&rows)
			return idsOf(rows, err)
		}},
		{name: "squirrel", find: func(v any) ([]ID, error) {
			query, args, err := squirrel.Select("id").From("rows").Where(squirrel.Eq{"null_id": v}).PlaceholderFormat(squirrel.Dollar).ToSql()
			if err != nil {
				return nil, err
			}
			return read(query, args...)
		}},
		{name: "goqu", find: func(v any) ([]ID, error) {
			var rows []row
			err := goqu.New("postgres", pool).From("rows").Where(goqu.Ex{"null_id": v}).ScanStructsContext(ctx, &rows)
			return idsOf(rows, err)
		}},
		{name: "go-jet"}, // whose conditions take no values of Go
	}
}

// docs/sql.md has the results of this test. To update the table, copy the lines of the failure.
func TestDocumentedLibraries(t *testing.T) {
	dsn := testserver.Database(t, "postgres", testserver.Postgres(t).DSN)
	pool, err := sql.Open("postgres", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pool.Close() })
	run := func(query string) {
		t.Helper()
		if _, err := pool.ExecContext(t.Context(), query); err != nil {
			t.Fatal(err)
		}
	}
	columns := func(create func() error) (types string) {
		run(`DROP TABLE IF EXISTS rows`)
		if create == nil {
			return "–"
		}
		if err := create(); err != nil {
			return err.Error()
		}
		if err := pool.QueryRowContext(t.Context(), `SELECT string_agg(data_type, ', ' ORDER BY array_position('{id,null_id,ptr}', column_name::text))
			FROM information_schema.columns WHERE table_schema = 'public' AND table_name = 'rows'`).Scan(&types); err != nil {
			t.Fatal(err)
		}
		return types
	}
	text, err := os.ReadFile("../../../docs/sql.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range libraries(t, pool, dsn) {
		t.Run(l.name, func(t *testing.T) {
			made := columns(l.create)
			if types := columns(l.tagged); l.tagged != nil && types != "bigint, bigint, bigint" {
				t.Errorf("with the tag it makes %s", types)
			}
			run(`DROP TABLE IF EXISTS rows`)
			run(`CREATE TABLE rows (id bigint PRIMARY KEY, null_id bigint, ptr bigint)`)
			run(`INSERT INTO rows VALUES (1, NULL, NULL), (7, 8, 9)`)
			cells := []string{l.name, made, "–", "–"}
			if l.find != nil {
				for _, v := range []any{ID(8), NullID{ID: 8, Valid: true}} {
					if got, err := l.find(v); err != nil || !reflect.DeepEqual(got, []ID{7}) {
						t.Errorf("%T: %v, %v", v, got, err)
					}
				}
				if got, err := l.find(ID(-5)); err == nil {
					t.Errorf("-5 in a condition: %v", got)
				}
				for i, v := range []any{NullID{}, (*ID)(nil)} {
					got, err := caught(func() ([]ID, error) { return l.find(v) })
					switch {
					case err != nil && strings.HasPrefix(err.Error(), "panics"):
						cells[2+i] = "panics"
					case err != nil:
						cells[2+i] = err.Error()
					case slices.Equal(got, []ID{1}):
						cells[2+i] = "`IS NULL`"
					case len(got) == 0:
						cells[2+i] = "`= NULL`"
					default:
						cells[2+i] = fmt.Sprint(got)
					}
				}
			}
			if line := "| " + strings.Join(cells, " | ") + " |"; !strings.Contains(string(text), "\n"+line) {
				t.Errorf("docs/sql.md has no line that begins so:\n%s", line)
			}
		})
	}
	// The last column of the table: what to do instead.
	u, err := postgresql.New(pool)
	if err != nil {
		t.Fatal(err)
	}
	for name, find := range map[string]func(rows *[]row) error{
		"upper/db": func(rows *[]row) error { return u.Collection("rows").Find(db.Cond{"null_id IS": nil}).All(rows) },
		"goqu": func(rows *[]row) error {
			return goqu.New("postgres", pool).From("rows").Where(goqu.C("null_id").IsNull()).ScanStructsContext(t.Context(), rows)
		},
	} {
		var rows []row
		if err := find(&rows); err != nil || !reflect.DeepEqual(rows, []row{{ID: 1}}) {
			t.Errorf("%s: %v, %v", name, rows, err)
		}
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
