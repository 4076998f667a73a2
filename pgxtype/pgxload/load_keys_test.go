package pgxload_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/pgxtype/pgxload"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// labeled is a row whose keys have a Form.
type labeled struct{}

func (*labeled) KeyForm() sqltype.Form { return sqltype.Form{Prefix: "row"} }

// The rows of a load have keys.
func TestLoadKeys(t *testing.T) {
	type (
		key  = sqltype.Key[order]
		null = sqltype.NullKey[order]
	)
	for name, method := range methods {
		s := newShop(t, pgx.QueryExecModeCacheStatement, true, `create table parents (id bigint primary key, up bigint, doc jsonb, name text);
	create table children (id bigint primary key, parent bigint references parents)`)
		load := func(id key, up null, doc sqltype.Key[labeled], children ...sqltype.Key[line]) error {
			_, err := pgxload.LoadWith(t.Context(), s.pool, pgxload.Config{Method: method}, func(w *pgxload.Writer) error {
				w.Table("parents", "id", "up", "doc", "name").Row(&id, &up, &doc, id)
				lines := w.Table("children", "id", "parent")
				for _, child := range children {
					lines.Row(&child, id)
				}
				return nil
			})

			return err
		}
		if err := errors.Join(load(1, null{}, 1, 11, 12), load(2, null{Key: 1, Valid: true}, 2, 21)); err != nil {
			t.Fatal(name, err)
		}
		if got, want := ask[string](t, s, `select string_agg(concat_ws('/', id, coalesce(up::text, ''), doc, name), ' ' order by id) from parents`), `1//"row_0000000000001"/1 2/1/"row_0000000000002"/2`; got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		if got, want := ask[string](t, s, `select string_agg(id || '/' || parent, ' ' order by id) from children`), "11/1 12/1 21/2"; got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		if err := load(3, null{}, 3, -1); !errors.Is(err, sqltype.ErrNegative) || at(err).Table != "children" || at(err).Column != "id" || !strings.Contains(err.Error(), "Key[") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

type sourceFunc func() (int64, error)

func (f sourceFunc) Next(context.Context) (int64, error) { return f() }

func (f sourceFunc) Fill(context.Context, []int64) error { return errOther }

// NextID returns ids of the Source. Without one, or after its error, it returns 0, and no such row is stored.
func TestNextID(t *testing.T) {
	gen, err := core.New(core.Config{Worker: core.Fixed(1)})
	if err != nil {
		t.Fatal(err)
	}
	defer gen.Close()
	s := newShop(t, pgx.QueryExecModeCacheStatement, true, `create table t (id bigint primary key, again bigint)`)
	n := 0
	for _, tt := range []struct {
		name   string
		source sqltype.Source
		want   error
		shows  string
	}{
		{"a generator", gen, nil, ""},
		{"none", nil, nil, "pgxload: NextID: Config.Source is required"},
		{"a nil pointer", (*core.Generator)(nil), sqltype.ErrNil, "NextID"},
		{"an error", sourceFunc(func() (int64, error) { return 0, errSource }), errSource, "NextID"},
		{"zero", sourceFunc(func() (int64, error) { return 0, nil }), sqltype.ErrSource, "NextID"},
		{"negative", sourceFunc(func() (int64, error) { return -5, nil }), sqltype.ErrSource, "NextID"},
		{"an error later", sourceFunc(func() (int64, error) {
			if n++; n > 50 {
				return 7, errSource
			}
			return int64(n), nil
		}), errSource, "NextID"},
	} {
		for name, method := range methods {
			fails := tt.shows != ""
			n = 0
			loaded, err := pgxload.LoadWith(t.Context(), s.pool, pgxload.Config{Method: method, Source: tt.source, ChunkBytes: 100}, func(w *pgxload.Writer) error {
				table, last := w.Table("t", "id", "again"), ID(0)
				for range 100 {
					id := w.NextID()
					if table.Row(id, id); (id == 0) != (w.Err() != nil) {
						t.Errorf("%s: id %d, error %v", tt.name, id, w.Err())
					}
					if id != 0 && id <= last {
						t.Errorf("%s: %d after %d", tt.name, id, last)
					}
					last = id
				}
				return nil
			})

			if (err != nil) != fails || !errors.Is(err, tt.want) && tt.want != nil || fails && !strings.Contains(err.Error(), tt.shows) {
				t.Errorf("%s, %s: %v", name, tt.name, err)
			}
			want := map[bool]int64{true: 0, false: 100}[fails]
			if n := s.ask(t, `select count(*) filter (where id = again) from t`); n != want || loaded.Rows != want {
				t.Errorf("%s, %s: %d rows, %+v", name, tt.name, n, loaded)
			}
			s.exec(t, `truncate t`)
		}
	}
}
