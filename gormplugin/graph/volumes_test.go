package graph_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
	"github.com/seed-299c1d6b/snowkey/internal/databases"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Their unique indexes are not in their tags.

type Writer struct {
	ID    sqltype.ID
	Email string `gorm:"size:60"`
}

type Genre struct {
	ID   sqltype.ID
	Word string `gorm:"size:40"`
}

// Series has an index that leaves out what is deleted softly.
type Series struct {
	ID        sqltype.ID
	Word      string `gorm:"size:40;uniqueIndex:series_word,where:deleted_at IS NULL"`
	DeletedAt gorm.DeletedAt
}

type Volume struct {
	ID       sqltype.ID
	Title    string `gorm:"size:60"`
	WriterID sqltype.ID
	Writer   *Writer
	SeriesID *sqltype.ID
	Series   *Series
	Genres   []Genre `gorm:"many2many:volume_genres"`
}

func volumes(t *testing.T, d databases.Database, foreignKeys bool) *gorm.DB {
	t.Helper()
	gen := databases.Generator(t, 1)
	db, err := gorm.Open(d.Open(t), &gorm.Config{Logger: logger.Discard, DisableForeignKeyConstraintWhenMigrating: !foreignKeys})
	if err != nil {
		t.Fatal(err)
	}
	pool, err := db.DB()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pool.Close() })
	if err := db.Use(gormplugin.New(gormplugin.Config{Source: gen, Models: []any{&Writer{}, &Genre{}, &Series{}, &Volume{}}})); err != nil {
		t.Fatal(err)
	}
	for _, table := range []any{"volume_genres", &Volume{}, &Writer{}, &Genre{}, &Series{}} {
		if err := db.Migrator().DropTable(table); err != nil {
			t.Fatal(err)
		}
	}
	series := any(&Series{})
	if db.Name() == "mysql" { // which has no partial index: this one replaces it
		if err := db.Exec("CREATE TABLE series (id bigint PRIMARY KEY, word varchar(40), deleted_at datetime(3), UNIQUE KEY series_word (word))").Error; err != nil {
			t.Fatal(err)
		}
		series = &Writer{}
	}
	if err := db.AutoMigrate(&Writer{}, &Genre{}, series, &Volume{}); err != nil {
		t.Fatal(err)
	}
	return db
}

// nothingDangles finds references to missing rows.
func nothingDangles(t *testing.T, db *gorm.DB) {
	t.Helper()
	for _, sql := range []string{
		"SELECT COUNT(*) FROM volumes WHERE writer_id NOT IN (SELECT id FROM writers) OR series_id IS NOT NULL AND series_id NOT IN (SELECT id FROM series)",
		"SELECT COUNT(*) FROM volume_genres WHERE volume_id NOT IN (SELECT id FROM volumes) OR genre_id NOT IN (SELECT id FROM genres)",
	} {
		var n int64
		if err := db.Raw(sql).Scan(&n).Error; err != nil || n > 0 {
			t.Errorf("%s: %d, %v", sql, n, err)
		}
	}
}

// computedUnique makes the first three characters of a column unique, so that only the database
// knows what a row collides with.
func computedUnique(t *testing.T, db *gorm.DB, table, column string) {
	t.Helper()
	sql := "CREATE UNIQUE INDEX " + table + "_low ON " + table + " (substr(" + column + ", 1, 3))"
	if db.Name() == "mysql" {
		sql = "ALTER TABLE " + table + " ADD COLUMN low varchar(60) AS (LEFT(" + column + ", 3)), ADD UNIQUE KEY " + table + "_low (low)"
	}
	if err := db.Exec(sql).Error; err != nil {
		t.Fatal(err)
	}
}

// returnsCollisions reports whether the database returns the rows that others collided with.
func returnsCollisions(db *gorm.DB) bool {
	return db.Name() == "mysql" && slices.Contains(db.Callback().Create().Clauses, "RETURNING")
}

// A row that collides by an expression that only the database can compute is not found. Then
// nothing is written, rather than a reference to a missing row.
func TestCollisionsThatAreNotFound(t *testing.T) {
	databases.OnEvery(t, func(t *testing.T, d databases.Database) {
		for _, foreignKeys := range []bool{true, false} {
			t.Run(fmt.Sprintf("foreign keys %v", foreignKeys), func(t *testing.T) {
				db := volumes(t, d, foreignKeys)
				computedUnique(t, db, "writers", "email")
				computedUnique(t, db, "genres", "word")
				ada, red := &Writer{Email: "ada@x"}, &Genre{Word: "red 1"}
				old := &Volume{Title: "old", Writer: ada, Genres: []Genre{*red}}
				if err := db.Create(old).Error; err != nil {
					t.Fatal(err)
				}
				returned := returnsCollisions(db)
				for what, write := range map[string]func() error{
					"Create, belongs to": func() error { return db.Create(&Volume{Title: "new", Writer: &Writer{Email: "ada@y"}}).Error },
					"Create, many to many": func() error {
						return db.Create(&Volume{Title: "new", WriterID: ada.ID, Genres: []Genre{{Word: "red 2"}, {Word: "blue " + t.Name()[:4]}}}).Error
					},
					"Save":   func() error { b := *old; b.Writer = &Writer{Email: "ada@y"}; return db.Save(&b).Error },
					"Append": func() error { return db.Model(&Volume{ID: old.ID}).Association("Genres").Append(&Genre{Word: "red 2"}) },
					"Append of it": func() error {
						return db.Model(&Volume{ID: old.ID}).Association("Writer").Append(&Writer{Email: "ada@y"})
					},
					"graph": func() error {
						return graph.Create(t.Context(), db, &Volume{Title: "new", Writer: &Writer{Email: "ada@y"}, Genres: []Genre{{Word: "red 2"}}})
					},
				} {
					err := write()
					if err == nil && !returned || err != nil && (strings.Contains(err.Error(), "FOREIGN KEY") || strings.Contains(err.Error(), "foreign key constraint")) {
						t.Errorf("%s: %v", what, err)
					}
					nothingDangles(t, db)
				}
				var n int64
				if err := db.Model(&Volume{}).Where("title = ?", "new").Count(&n).Error; err != nil || n > 0 && !returned {
					t.Errorf("%d volumes are written, %v", n, err)
				}
			})
		}
	})
}
