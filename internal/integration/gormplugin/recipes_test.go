package gormplugin

import (
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/internal/integration/databases"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/pgxtype"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

var execModes = []pgx.QueryExecMode{
	pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeDescribeExec, pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol,
}

// Lists of ids through GORM's postgres driver over pgx. GORM writes a slice as
// ($1,$2,…), as IN wants it; a pointer to one is a single parameter, as ANY
// wants it, and that is what the registered types are for.
func TestGormOverPgx(t *testing.T) {
	for _, mode := range execModes {
		t.Run(mode.String(), func(t *testing.T) {
			config := databases.FreshPostgres(t, testserver.Postgres(t).DSN)
			config.DefaultQueryExecMode = mode
			pool := stdlib.OpenDB(*config, stdlib.OptionAfterConnect(pgxtype.AfterConnect))
			t.Cleanup(func() { _ = pool.Close() })
			db := migrated(t, databases.Database{Name: "postgres", Open: func(*testing.T) gorm.Dialector { return postgres.New(postgres.Config{Conn: pool}) }})
			events := make([]Event, 20)
			if err := db.Create(&events).Error; err != nil {
				t.Fatal(err)
			}
			want := []sqltype.ID{events[3].ID, events[7].ID, events[19].ID}
			ids := []sqltype.ID{want[2], 5, want[0], want[1]}
			for name, where := range map[string]*gorm.DB{
				"IN ?":           db.Where("id IN ?", ids),
				"= ANY(?)":       db.Where("id = ANY(?)", &ids),
				"named":          db.Where("id = ANY(@ids) AND id >= @least", map[string]any{"ids": &ids, "least": want[0]}),
				"a map":          db.Where(map[string]any{"id": ids}),
				"a slice":        db.Where(ids),
				"raw":            db.Raw("SELECT id FROM events WHERE id = ANY(?)", &ids),
				"pointers":       db.Where("id = ANY(?)", &[]*sqltype.ID{&want[0], nil, &want[1], &want[2]}),
				"unnest":         db.Where("id IN (SELECT unnest(CAST(? AS bigint[])))", &ids),
				"NOT and limits": db.Where("id <= ?", want[2]).Not("id <> ALL(?)", &ids),
			} {
				var got []sqltype.ID
				query := where.Session(&gorm.Session{})
				if name != "raw" {
					query = query.Model(&Event{})
				}
				var rows []Event
				if err := query.Find(&rows).Error; err != nil {
					t.Errorf("%s: %v", name, err)
					continue
				}
				for _, e := range rows {
					got = append(got, e.ID)
				}
				if slices.Sort(got); !slices.Equal(got, want) {
					t.Errorf("%s: %v, want %v", name, got, want)
				}
			}
			var none []Event
			if err := db.Where("id = ANY(?)", &[]sqltype.ID{}).Find(&none).Error; err != nil || len(none) != 0 {
				t.Errorf("no ids: %d rows, %v", len(none), err)
			}
			deleted := db.Where("id = ANY(?)", &ids).Delete(&Event{})
			if deleted.Error != nil || deleted.RowsAffected != 3 {
				t.Errorf("deleted %d, %v", deleted.RowsAffected, deleted.Error)
			}
		})
	}
}
