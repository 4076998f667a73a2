package inserts

import (
	"fmt"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/logger"

	"github.com/seed-299c1d6b/snowkey/benchmarks/internal/database"
	"github.com/seed-299c1d6b/snowkey/benchmarks/internal/scale"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Word is known by its text. PlainWord is the same for gorm alone, which leaves wrong keys in structs.
type (
	Word struct {
		ID   sqltype.ID
		Text string `gorm:"size:40;uniqueIndex"`
		Uses int
	}
	PlainWord struct {
		ID   int64  `gorm:"primaryKey;autoIncrement:false"`
		Text string `gorm:"size:40;uniqueIndex"`
		Uses int
	}
)

// BenchmarkUpsert writes rows of which every second one exists, by a unique column: with the plugin,
// which looks up the keys of the rows that exist, and by gorm alone, which does not.
func BenchmarkUpsert(b *testing.B) {
	for _, name := range database.Engines() {
		b.Run("db="+name, func(b *testing.B) {
			e := database.Open(b, name, true)
			db := graphHandle(b, e, &counter{Interface: logger.Discard})
			if err := db.AutoMigrate(&Word{}, &PlainWord{}); err != nil {
				b.Fatal(err)
			}
			for _, rows := range scale.Pick(b, []int{10}, []int{100, 1_000, 10_000}) {
				for _, way := range scale.Rotate(b, upsertWays()) {
					b.Run(fmt.Sprintf("rows=%d/way=%s", rows, way.name), func(b *testing.B) {
						for b.Loop() {
							b.StopTimer()
							e.Exec(b, "DELETE FROM words")
							e.Exec(b, "DELETE FROM plain_words")
							if err := way.run(db, rows, 2); err != nil {
								b.Fatal(err)
							}
							b.StartTimer()
							if err := way.run(db, rows, 1); err != nil {
								b.Fatal(err)
							}
						}
						b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
						b.ReportMetric(0, "ns/op")
					})
				}
			}
		})
	}
}

// upsertWays write every step-th of the words.
func upsertWays() []graphWay {
	on := clause.OnConflict{Columns: []clause.Column{{Name: "text"}}, DoUpdates: clause.AssignmentColumns([]string{"uses"})}
	return []graphWay{
		{"snowkey", func(db *gorm.DB, rows, step int) error {
			var list []Word
			for i := 0; i < rows; i += step {
				list = append(list, Word{Text: fmt.Sprint("word ", i), Uses: step})
			}
			return slice(db).Clauses(on).Create(&list).Error
		}},
		{"gorm-alone", func(db *gorm.DB, rows, step int) error {
			var list []PlainWord
			for i := 0; i < rows; i += step {
				list = append(list, PlainWord{ID: int64(i*2 + step), Text: fmt.Sprint("word ", i), Uses: step})
			}
			return slice(db).Clauses(on).Create(&list).Error
		}},
	}
}
