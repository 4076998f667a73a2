package integration

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// What the rows of a graph collide with is found by the indexes that the database has, as by
// gorm's own create.
func TestGraphCollisionsByIndexesWithoutTags(t *testing.T) {
	onVolumes(t, func(t *testing.T, db *gorm.DB) {
		ada, saga, red := existingRows(t, db)
		write := func() []*Volume {
			t.Helper()
			rows := []*Volume{
				{Title: "1", Writer: &Writer{Email: "ada@x"}, Series: &Series{Word: "saga"}, Genres: []Genre{{Word: "new"}, {Word: "red"}}},
				{Title: "2", Writer: &Writer{Email: "bob@x"}, Genres: []Genre{{Word: "red"}}}, // the same as that of the first, in a struct of its own
				{Title: "3", Writer: &Writer{Email: "bob@x"}, Series: &Series{Word: "tale"}, Genres: []Genre{{Word: "blue"}}},
			}
			if err := graph.Create(t.Context(), db, rows); err != nil {
				t.Fatal(err)
			}
			return rows
		}
		for range 2 { // the second time all of them are there
			rows := write()
			for i, v := range rows {
				var back Volume
				if err := db.Preload("Writer").Preload("Series").Preload("Genres", func(db *gorm.DB) *gorm.DB { return db.Order("word") }).Take(&back, v.ID).Error; err != nil {
					t.Fatal(err)
				}
				if back.Writer == nil || back.Writer.Email != v.Writer.Email || back.WriterID != v.Writer.ID || len(back.Genres) != len(v.Genres) {
					t.Errorf("volume %d: %+v", i, back)
					continue
				}
				for k, g := range back.Genres {
					if g != v.Genres[k] {
						t.Errorf("volume %d: the genre %+v, the struct has %+v", i, g, v.Genres[k])
					}
				}
				if (back.Series == nil) != (v.Series == nil) || v.Series != nil && (back.Series == nil || back.Series.ID != v.Series.ID) {
					t.Errorf("volume %d: the series %+v, the struct has %+v", i, back.Series, v.Series)
				}
			}
			if rows[0].Writer.ID != ada.ID || rows[0].Series.ID != saga.ID || rows[0].Genres[1].ID != red.ID || rows[1].Genres[0].ID != red.ID || rows[1].WriterID != rows[2].WriterID {
				t.Errorf("%+v, %+v: want the writer %d, the series %d and the genre %d", rows[0], rows[1], ada.ID, saga.ID, red.ID)
			}
		}
		nothingDangles(t, db)
		for table, want := range map[string]int64{"writers": 2, "genres": 3} {
			var n int64
			if err := db.Table(table).Count(&n).Error; err != nil || n != want {
				t.Errorf("%d %s, want %d: %v", n, table, want, err)
			}
		}
	})
}

// A partial index that is in no tag: PostgreSQL returns its condition, and the row is found.
// SQLite does not, so the create fails and writes nothing.
func TestGraphCollisionsByUntoldPartialIndexes(t *testing.T) {
	onEvery(t, func(t *testing.T, d database) {
		for _, foreignKeys := range []bool{true, false} {
			t.Run(fmt.Sprintf("foreign keys %v", foreignKeys), func(t *testing.T) {
				db := volumes(t, d, foreignKeys)
				if db.Name() == "mysql" {
					return // it has none
				}
				for _, sql := range []string{
					"CREATE UNIQUE INDEX writers_email ON writers (email) WHERE email <> ''",
					"CREATE UNIQUE INDEX genres_word ON genres (word) WHERE word <> ''",
				} {
					if err := db.Exec(sql).Error; err != nil {
						t.Fatal(err)
					}
				}
				ada, red := &Writer{Email: "ada@x"}, &Genre{Word: "red"}
				none := []*Volume{ // what the indexes leave out is written
					{Title: "0", Writer: &Writer{}, Genres: []Genre{{}, {}}},
					{Title: "0", Writer: &Writer{}},
				}
				for _, v := range []any{ada, red, none} {
					if err := graph.Create(t.Context(), db, v); err != nil {
						t.Fatal(err)
					}
				}
				if none[0].WriterID == none[1].WriterID || none[0].Genres[0].ID == none[0].Genres[1].ID {
					t.Errorf("%+v and %+v share what is not unique", none[0], none[1])
				}
				for what, v := range map[string]*Volume{
					"belongs to":   {Title: "1", Writer: &Writer{Email: "ada@x"}},
					"many to many": {Title: "1", Writer: &Writer{Email: "new@x"}, Genres: []Genre{{Word: "new"}, {Word: "red"}}},
				} {
					err := graph.Create(t.Context(), db, v)
					if db.Name() == "sqlite" {
						if err == nil || !strings.Contains(err.Error(), "was not written") || v.ID != 0 || v.WriterID != 0 || v.Writer.ID != 0 {
							t.Errorf("%s: %v, keys %+v", what, err, v)
						}
						continue
					}
					if err != nil || len(v.Genres) == 0 && v.WriterID != ada.ID || len(v.Genres) == 2 && v.Genres[1].ID != red.ID {
						t.Errorf("%s: %v, %+v", what, err, v)
					}
				}
				nothingDangles(t, db)
				var n int64
				if err := db.Model(&Volume{}).Where("title = '1'").Count(&n).Error; err != nil || db.Name() == "sqlite" && n != 0 {
					t.Errorf("%d volumes, %v", n, err)
				}
			})
		}
	})
}

// Topic has a key that the database makes, and is unique by its word.
type Topic struct {
	ID   uint
	Word string `gorm:"size:40;uniqueIndex"`
}

type Talk struct {
	ID      sqltype.ID
	Title   string `gorm:"size:40"`
	MainID  uint
	Main    *Topic
	OtherID *uint
	Other   *Topic
	Topics  []Topic `gorm:"many2many:talk_topics"`
}

// If the database makes the key of a row that others belong to, a collision is an error, and nothing
// is written, rather than a reference to 0 or to a wrong row.
func TestGraphCollisionsOfMadeKeys(t *testing.T) {
	onEvery(t, func(t *testing.T, d database) {
		for _, foreignKeys := range []bool{true, false} {
			t.Run(fmt.Sprintf("foreign keys %v", foreignKeys), func(t *testing.T) {
				dialect := d.open(t)
				db := graphHandle(t, dialect, nil, &gorm.Config{DisableForeignKeyConstraintWhenMigrating: !foreignKeys})
				if err := db.Migrator().DropTable("talk_topics", &Talk{}, &Topic{}); err != nil {
					t.Fatal(err)
				}
				if err := db.AutoMigrate(&Topic{}, &Talk{}); err != nil {
					t.Fatal(err)
				}
				red := &Topic{Word: "red"}
				if err := db.Create(red).Error; err != nil {
					t.Fatal(err)
				}
				for what, build := range map[string]func() *Talk{
					"belongs to":         func() *Talk { return &Talk{Main: &Topic{Word: "red"}} },
					"the first of two":   func() *Talk { return &Talk{Main: &Topic{Word: "red"}, Other: &Topic{Word: newWord()}} },
					"the second of two":  func() *Talk { return &Talk{Main: &Topic{Word: newWord()}, Other: &Topic{Word: "red"}} },
					"many to many":       func() *Talk { return &Talk{Main: red, Topics: []Topic{{Word: "red"}, {Word: newWord()}}} },
					"none, beside a key": func() *Talk { return &Talk{Main: red, Other: &Topic{Word: newWord()}} },
					"none, and no others": func() *Talk {
						return &Talk{Main: &Topic{Word: newWord()}, Topics: []Topic{{Word: newWord()}, {Word: newWord()}}}
					},
				} {
					talk := build()
					talk.Title = what
					err := graph.Create(t.Context(), db, talk)
					if may := strings.HasPrefix(what, "none"); may != (err == nil) || err != nil && !isUniqueViolation(err) {
						t.Errorf("%s: %v", what, err)
					}
					if err != nil && (talk.ID != 0 || talk.OtherID != nil) {
						t.Errorf("%s: keys are left: %+v", what, talk)
					}
					var back []Talk
					if err := db.Preload("Main").Preload("Other").Preload("Topics").Find(&back, "title = ?", what).Error; err != nil || len(back) > 1 {
						t.Fatalf("%d, %v", len(back), err)
					}
					for _, b := range back {
						if b.Main == nil || b.Main.Word != talk.Main.Word || (b.Other == nil) != (talk.Other == nil) || b.Other != nil && b.Other.Word != talk.Other.Word || len(b.Topics) != len(talk.Topics) {
							t.Errorf("%s: %+v, %+v, want %+v, %+v", what, b, b.Main, talk, talk.Main)
						}
					}
				}
			})
		}
	})
}

func newWord() string {
	return fmt.Sprint("word ", topics.Add(1))
}

var topics atomic.Int64

func isUniqueViolation(err error) bool {
	text := strings.ToLower(err.Error())
	return strings.Contains(text, "unique") || strings.Contains(text, "duplicate")
}
