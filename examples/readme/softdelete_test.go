package readme

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/glebarez/sqlite"
	"gorm.io/driver/mysql"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
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
	for name, open := range map[string]func(t *testing.T) gorm.Dialector{
		"sqlite": func(t *testing.T) gorm.Dialector { return sqlite.Open(filepath.Join(t.TempDir(), "words.sqlite")) },
		"postgres": func(t *testing.T) gorm.Dialector {
			return postgres.Open(testserver.Database(t, "pgx", testserver.Postgres(t).DSN))
		},
		"mariadb": func(t *testing.T) gorm.Dialector {
			return mysql.Open(testserver.Database(t, "mysql", testserver.MariaDB(t).DSN) + "?parseTime=true")
		},
	} {
		t.Run(name, func(t *testing.T) {
			db, err := gorm.Open(open(t), &gorm.Config{Logger: logger.Discard})
			if err != nil {
				t.Fatal(err)
			}
			pool, err := db.DB()
			if err != nil {
				t.Fatal(err)
			}
			defer pool.Close()
			gen, err := core.New(core.Config{Worker: core.Fixed(3)})
			if err != nil {
				t.Fatal(err)
			}
			defer gen.Close()
			if err := db.Use(gormplugin.New(gormplugin.Config{Source: gen})); err != nil {
				t.Fatal(err)
			}
			if err := db.AutoMigrate(&Word{}, &Page{}); err != nil {
				t.Fatal(err)
			}
			if name == "mariadb" {
				liveWords(t, pool)
			}
			if err := db.AutoMigrate(&Word{}, &Page{}); err != nil { // the next start
				t.Fatal(err)
			}
			gone, live, again := Word{Word: "red"}, Word{Word: "red"}, Word{Word: "red", Note: "new"}
			if err := db.Create(&gone).Error; err != nil {
				t.Fatal(err)
			}
			if err := db.Delete(&gone).Error; err != nil {
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
func liveWords(t *testing.T, pool *sql.DB) {
	t.Helper()
	for _, b := range blocks(t, "docs/gorm.md") {
		if b.language == "sql" && strings.Contains(b.code, "GENERATED") {
			if _, err := pool.Exec(b.code); err != nil {
				t.Fatalf("%v:\n%s", err, b.code)
			}
			return
		}
	}
	t.Fatal("docs/gorm.md has no statement")
}
