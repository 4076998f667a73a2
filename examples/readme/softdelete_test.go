package readme

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/glebarez/sqlite"
	"gorm.io/driver/mysql"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/snowkeytest"
	"github.com/seed-299c1d6b/snowkey/snowkeytest/gormtest"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Page has words, which exist or not.
type Page struct {
	ID    sqltype.ID
	Words []*Word `gorm:"many2many:page_words"`
}

// A word that was deleted softly can be written again, and the upsert and associations find the one
// that is left.
func TestSoftDelete(t *testing.T) {
	for name, dialector := range map[string]gorm.Dialector{
		"sqlite":   sqlite.Open(filepath.Join(t.TempDir(), "words.sqlite")),
		"postgres": postgres.Open(testserver.Database(t, "pgx", testserver.Postgres(t).DSN)),
		"mariadb":  mysql.Open(testserver.Database(t, "mysql", testserver.MariaDB(t).DSN) + "?parseTime=true"),
	} {
		t.Run(name, func(t *testing.T) {
			db := gormtest.Open(t, dialector, snowkeytest.Config{}, &Word{}, &Page{})
			if name == "mariadb" {
				liveWords(t, db)
			}
			if err := gormplugin.Migrator(db).AutoMigrate(&Word{}, &Page{}); err != nil { // the next start
				t.Fatal(err)
			}
			gone, live, again := Word{Word: "red"}, Word{Word: "red"}, Word{Word: "red", Note: "new"}
			if err := errors.Join(db.Create(&gone).Error, db.Delete(&gone).Error); err != nil {
				t.Fatal(err)
			}
			if err := putWord(t.Context(), db, &live); err != nil || live.ID == gone.ID {
				t.Fatalf("%+v, %v", live, err)
			}
			if err := putWord(t.Context(), db, &again); err != nil || again.ID != live.ID {
				t.Errorf("the upsert: %+v, want the key %d, %v", again, live.ID, err)
			}
			if err := db.Create(&Word{Word: "red"}).Error; err == nil {
				t.Error("the word is there twice")
			}
			pages := []Page{{Words: []*Word{{Word: "red"}}}, {Words: []*Word{{Word: "red"}}}}
			if err := db.Create(&pages[0]).Error; err != nil || pages[0].Words[0].ID != live.ID {
				t.Errorf("an association: %v", err)
			}
			if err := graph.Create(t.Context(), db, &pages[1]); err != nil || pages[1].Words[0].ID != live.ID {
				t.Errorf("a graph: %v", err)
			}
			var notes []string
			if err := db.Model(&Word{}).Pluck("note", &notes).Error; err != nil || len(notes) != 1 || notes[0] != "new" {
				t.Errorf("%q, %v", notes, err)
			}
		})
	}
}

// liveWords runs the statement of docs/gorm.md for MySQL and MariaDB.
func liveWords(t *testing.T, db *gorm.DB) {
	t.Helper()
	for _, b := range blocks(t, "docs/gorm.md") {
		if b.language == "sql" && strings.Contains(b.code, "GENERATED") {
			if err := db.Exec(b.code).Error; err != nil {
				t.Fatalf("%v:\n%s", err, b.code)
			}
			return
		}
	}
	t.Fatal("docs/gorm.md has no statement")
}
