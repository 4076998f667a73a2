package pgxload_test

import (
	"context"
	"database/sql/driver"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/seed-299c1d6b/snowkey/pgxtype/pgxload"
)

type sourceFunc func() (int64, error)

func (f sourceFunc) Next(context.Context) (int64, error) { return f() }

func (f sourceFunc) Fill(context.Context, []int64) error { return errOther }

// NextID returns ids of the Source. Without one, or after its error, it returns 0, and no such row is stored.
func TestNextID(t *testing.T) {
	s := newShop(t, pgx.QueryExecModeCacheStatement, true, `create table t (id bigint primary key)`)
	for want, limit := range map[string]int64{"": 100, "NextID: Config.Source is required": -1, "NextID: the source is at fault": 50} {
		n, cfg := int64(0), pgxload.Config{ChunkBytes: 100}
		if limit > 0 {
			cfg.Source = sourceFunc(func() (int64, error) {
				if n++; n > limit {
					return 7, errSource
				}
				return n, nil
			})
		}
		loaded, err := pgxload.LoadWith(t.Context(), s.pool, cfg, func(w *pgxload.Writer) error {
			table := w.Table("t", "id")
			for range 100 {
				id := w.NextID()
				if table.Row(id); (id == 0) != (w.Err() != nil) {
					t.Errorf("id %d, error %v", id, w.Err())
				}
			}
			return nil
		})
		stored := s.ask(t, `select count(*) from t`)
		if fails := want != ""; (err != nil) != fails || fails && (stored != 0 || !strings.Contains(strings.ReplaceAll(err.Error(), "sqltype: NextID: ", ""), want)) || !fails && stored != 100 || loaded.Rows != stored {
			t.Errorf("%d rows, %+v, %v, want %q", stored, loaded, err, want)
		}
		s.exec(t, `truncate t`)
	}
}

// A value that uses the Writer while its row is encoded would be lost, or get the id 0.
func TestWriterInRow(t *testing.T) {
	s := newShop(t, pgx.QueryExecModeCacheStatement, true, `create table t (id bigint primary key, up bigint)`)
	cfg := pgxload.Config{Source: sourceFunc(func() (int64, error) { return 7, nil })}
	for name, use := range map[string]func(w *pgxload.Writer, t *pgxload.Table) ID{
		"NextID": func(w *pgxload.Writer, _ *pgxload.Table) ID { return w.NextID() },
		"Row":    func(_ *pgxload.Writer, t *pgxload.Table) ID { t.Row(ID(8), nil); return 9 },
		"Table":  func(w *pgxload.Writer, _ *pgxload.Table) ID { w.Table("t", "id").Row(ID(8)); return 9 },
	} {
		for _, recovers := range []bool{false, true} {
			_, err := pgxload.LoadWith(t.Context(), s.pool, cfg, func(w *pgxload.Writer) error {
				table := w.Table("t", "id", "up")
				table.Row(valuer(func() (driver.Value, error) {
					defer func() { _ = recover() }()
					return int64(use(w, table)), nil
				}), nil)
				if recovers {
					table.Row(ID(10), nil)
				}
				return nil
			})
			if n := s.ask(t, `select count(*) from t`); err == nil || n != 0 || !strings.Contains(err.Error(), "in Row") {
				t.Errorf("%s: %d rows, the lowest %d, %v", name, n, s.ask(t, `select coalesce(min(id), -1) from t`), err)
				s.exec(t, `truncate t`)
			}
		}
	}
}
