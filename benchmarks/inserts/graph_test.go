package inserts

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/logger"

	"github.com/seed-299c1d6b/snowkey/benchmarks/internal/database"
	"github.com/seed-299c1d6b/snowkey/benchmarks/internal/scale"
	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
)

// graphWay is one way to write parents with their children by gorm.
type graphWay struct {
	name string
	run  func(db *gorm.DB, masters, details int) error
}

func snow(masters, details int) []SnowMaster {
	rows := make([]SnowMaster, masters)
	for i := range rows {
		rows[i] = SnowMaster{Name: "master", Details: make([]SnowDetail, details)}
		for k := range rows[i].Details {
			rows[i].Details[k] = SnowDetail{Position: k, Text: "detail"}
		}
	}
	return rows
}

const detailsEach = 10

// slice is gorm's own create of the slice. SQLite has not the parameters for it,
// and gets it in batches.
func slice(db *gorm.DB) *gorm.DB {
	if db.Name() == "sqlite" {
		return db.Session(&gorm.Session{CreateBatchSize: 1000})
	}
	return db
}

// graphWays: the first is graph.Create, the next two are gorm's own creates of the same models, whose
// keys the plugin fills; the rest are gorm's create of the slice under keys of other kinds.
func graphWays() []graphWay {
	return []graphWay{
		{"snowkey", func(db *gorm.DB, m, d int) error {
			return graph.Create(db.Statement.Context, db, snow(m, d))
		}},
		{"gorm-slice", func(db *gorm.DB, m, d int) error {
			rows := snow(m, d)
			return slice(db).Create(&rows).Error
		}},
		{"gorm-row-by-row", rowByRow},
		{"gorm-slice-auto", func(db *gorm.DB, m, d int) error {
			rows := make([]AutoMaster, m)
			for i := range rows {
				rows[i] = AutoMaster{Name: "master", Details: make([]AutoDetail, d)}
				for k := range rows[i].Details {
					rows[i].Details[k] = AutoDetail{Position: k, Text: "detail"}
				}
			}
			return slice(db).Create(&rows).Error
		}},
		{"gorm-slice-uuid7-text", func(db *gorm.DB, m, d int) error {
			rows := make([]TextMaster, m)
			for i := range rows {
				rows[i] = TextMaster{ID: uuid.Must(uuid.NewV7()).String(), Name: "master", Details: make([]TextDetail, d)}
				for k := range rows[i].Details {
					rows[i].Details[k] = TextDetail{ID: uuid.Must(uuid.NewV7()).String(), Position: k, Text: "detail"}
				}
			}
			return slice(db).Create(&rows).Error
		}},
	}
}

func rowByRow(db *gorm.DB, m, d int) error {
	rows := snow(m, d)
	return db.Transaction(func(tx *gorm.DB) error {
		tx = tx.Omit(clause.Associations).Session(&gorm.Session{})
		for i := range rows {
			if err := tx.Create(&rows[i]).Error; err != nil {
				return err
			}
			for k := range rows[i].Details {
				rows[i].Details[k].MasterID = rows[i].ID
				if err := tx.Create(&rows[i].Details[k]).Error; err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// BenchmarkGraph writes 1,000 parents with ten children each by gorm, in one
// transaction.
func BenchmarkGraph(b *testing.B) {
	masters := scale.Pick(b, 3, 1_000)
	for _, name := range append(database.Engines(), database.SQLiteC) {
		b.Run("db="+name, func(b *testing.B) { runWays(b, database.Open(b, name, true), masters) })
	}
}

// BenchmarkGraphFar does the same with 100 parents, on a server behind a network
// of 1 ms a round trip.
func BenchmarkGraphFar(b *testing.B) {
	masters := scale.Pick(b, 2, 100)
	for _, name := range []string{database.Postgres, database.MariaDB} {
		b.Run("db="+name, func(b *testing.B) { runWays(b, database.OpenFar(b, name, true, time.Millisecond), masters) })
	}
}

// runWays runs all ways. Tables are emptied by DELETE after each time.
func runWays(b *testing.B, e *database.Engine, masters int) {
	tables := []string{"snow_details", "snow_masters", "auto_details", "auto_masters", "text_details", "text_masters"}
	count := &counter{Interface: logger.Discard}
	db := graphHandle(b, e, count)
	empty := func(want int) {
		rows := 0
		for _, table := range tables {
			rows += e.Count(b, table)
			e.Exec(b, "DELETE FROM "+table)
		}
		if rows != want {
			b.Fatalf("%d rows were written, want %d", rows, want)
		}
	}
	for _, way := range scale.Rotate(b, graphWays()) {
		b.Run("way="+way.name, func(b *testing.B) {
			if err := way.run(db, 2, 1); err != nil { // schemas are parsed, statements prepared
				b.Fatal(err)
			}
			empty(4)
			count.statements = 0
			b.ReportAllocs()
			for b.Loop() {
				if err := way.run(db, masters, detailsEach); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				empty(masters * (1 + detailsEach))
				b.StartTimer()
			}
			b.ReportMetric(float64(b.N*masters*(1+detailsEach))/b.Elapsed().Seconds(), "rows/s")
			b.ReportMetric(float64(count.statements)/float64(b.N), "stmts/op")
			b.ReportMetric(0, "ns/op") // rows/s says it
		})
	}
}

// graphHandle opens gorm with the plugin and makes the tables.
func graphHandle(b *testing.B, e *database.Engine, log logger.Interface) *gorm.DB {
	b.Helper()
	gen, err := core.New(core.Config{Worker: core.Fixed(1)})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(gen.Close)
	db, err := gorm.Open(e.Dialector(), &gorm.Config{Logger: log})
	if err != nil {
		b.Fatal(err)
	}
	if err := db.Use(gormplugin.New(gormplugin.Config{Source: gen, Models: []any{&SnowMaster{}, &SnowDetail{}}})); err != nil {
		b.Fatal(err)
	}
	if err := db.AutoMigrate(&SnowMaster{}, &SnowDetail{}, &AutoMaster{}, &AutoDetail{}, &TextMaster{}, &TextDetail{}); err != nil {
		b.Fatal(err)
	}
	return db.WithContext(b.Context())
}

// counter counts the statements that gorm sends, BEGIN and COMMIT left out.
type counter struct {
	logger.Interface
	statements int
}

func (c *counter) LogMode(logger.LogLevel) logger.Interface { return c }

func (c *counter) Trace(context.Context, time.Time, func() (string, int64), error) { c.statements++ }
