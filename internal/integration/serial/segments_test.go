package serial

import (
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/pgxtype/pgxload"
	"github.com/seed-299c1d6b/snowkey/serial"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// A row with a key of Segments.
type ticket struct {
	ID    sqltype.ID `gorm:"primaryKey"`
	Title string
}

// Segments are the Source of the plugin. In SQLite, whose transactions of GORM are the one writer of
// their file, the counter has its own file.
func TestSegmentsInGORM(t *testing.T) {
	onEverySQL(t, func(t *testing.T, e engine) {
		db := e.gorm(t, &gorm.Config{}, &ticket{})
		if e.driver == "sqlite" {
			e.dsn = sqliteIn(t, "wal")
		}
		s, err := serial.NewSegments(serial.SegmentsConfig{Counter: e.counter(t), Key: "tickets", Block: 10})
		must(t, err)
		must(t, db.Use(gormplugin.New(gormplugin.Config{Source: s})))
		for range 3 {
			must(t, db.Create(&ticket{}).Error)
		}
		batch := make([]ticket, 30)
		must(t, db.Create(&batch).Error)
		for i, row := range batch {
			if row.ID != sqltype.ID(i+4) {
				t.Errorf("row %d has the id %v", i, row.ID)
			}
		}
	})
}

// Segments are the Source of a load.
func TestSegmentsInLoad(t *testing.T) {
	e := engine{driver: "pgx", dsn: testserver.Database(t, "pgx", testserver.Postgres(t).DSN)}
	pool, err := pgxpool.New(t.Context(), e.dsn)
	must(t, err)
	defer pool.Close()
	_, err = pool.Exec(t.Context(), "CREATE TABLE tickets (id bigint PRIMARY KEY, title text)")
	must(t, err)
	s, err := serial.NewSegments(serial.SegmentsConfig{Counter: e.counter(t), Key: "tickets"})
	must(t, err)
	_, err = pgxload.LoadWith(t.Context(), pool, pgxload.Config{Source: s}, func(w *pgxload.Writer) error {
		table := w.Table("tickets", "id", "title")
		for range 2500 {
			table.Row(w.NextID(), "a")
		}
		return nil
	})
	must(t, err)
	var rows, most int64
	must(t, pool.QueryRow(t.Context(), "SELECT count(*), max(id) FROM tickets").Scan(&rows, &most))
	if rows != 2500 || most < 2500 || most > 4000 {
		t.Errorf("%d rows, up to %d", rows, most)
	}
}
