package graph_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
	"github.com/seed-299c1d6b/snowkey/internal/databases"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

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
	databases.OnEvery(t, func(t *testing.T, d databases.Database) {
		for _, foreignKeys := range []bool{true, false} {
			t.Run(fmt.Sprintf("foreign keys %v", foreignKeys), func(t *testing.T) {
				dialect := d.Open(t)
				db := graphHandle(t, dialect, nil, &gorm.Config{DisableForeignKeyConstraintWhenMigrating: !foreignKeys})
				must(t, db.Migrator().DropTable("talk_topics", &Talk{}, &Topic{}))
				must(t, db.AutoMigrate(&Topic{}, &Talk{}))
				red := &Topic{Word: "red"}
				must(t, db.Create(red).Error)
				for what, build := range map[string]func() *Talk{
					"belongs to":          func() *Talk { return &Talk{Main: &Topic{Word: "red"}} },
					"the first of two":    func() *Talk { return &Talk{Main: &Topic{Word: "red"}, Other: &Topic{Word: newWord()}} },
					"the second of two":   func() *Talk { return &Talk{Main: &Topic{Word: newWord()}, Other: &Topic{Word: "red"}} },
					"many to many":        func() *Talk { return &Talk{Main: red, Topics: []Topic{{Word: "red"}, {Word: newWord()}}} },
					"none, next to a key": func() *Talk { return &Talk{Main: red, Other: &Topic{Word: newWord()}} },
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
