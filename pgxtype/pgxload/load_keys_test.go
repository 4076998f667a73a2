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
