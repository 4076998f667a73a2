package integration

import (
	"testing"

	"gorm.io/driver/mysql"
	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// With clientFoundRows, MySQL counts existing rows as written ones, so its count does not show
// that all rows were written.
func TestCollisionsWithClientFoundRows(t *testing.T) {
	for _, server := range testserver.MySQLs(t) {
		cfg := freshMySQL(t, server.DSN)
		cfg.ClientFoundRows = true
		db := volumes(t, database{name: "mysql", open: func(*testing.T) gorm.Dialector {
			return mysql.New(mysql.Config{DSNConfig: cfg, DisableWithReturning: true})
		}}, false)
		if err := db.Exec("CREATE UNIQUE INDEX writers_email ON writers (email)").Error; err != nil {
			t.Fatal(err)
		}
		ada := &Writer{Email: "ada@x"}
		if err := db.Create(ada).Error; err != nil {
			t.Fatal(err)
		}
		for what, create := range map[string]func(v *Volume) error{
			"gorm": func(v *Volume) error { return db.Create(v).Error },
			"ours": func(v *Volume) error { return graph.Create(t.Context(), db, v) },
		} {
			v := &Volume{Title: what, Writer: &Writer{Email: "ada@x"}}
			if err := create(v); err != nil || v.WriterID != ada.ID {
				t.Errorf("%s: the writer is %d, want %d: %v", what, v.WriterID, ada.ID, err)
			}
		}
		nothingDangles(t, db)
	}
}
