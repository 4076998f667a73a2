package integration

import (
	"database/sql/driver"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/glebarez/sqlite"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/stdlib"
	"gorm.io/driver/mysql"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// The same two tables with keys of four kinds.

type SnowMaster struct {
	ID      sqltype.ID
	Name    string       `gorm:"size:40"`
	Details []SnowDetail `gorm:"foreignKey:MasterID"`
}

type SnowDetail struct {
	ID       sqltype.ID
	MasterID sqltype.ID `gorm:"index"`
	Position int
	Text     string `gorm:"size:40"`
}

type AutoMaster struct {
	ID      int64
	Name    string       `gorm:"size:40"`
	Details []AutoDetail `gorm:"foreignKey:MasterID"`
}

type AutoDetail struct {
	ID       int64
	MasterID int64 `gorm:"index"`
	Position int
	Text     string `gorm:"size:40"`
}

type TextMaster struct { // a UUID of version 4, as text
	ID      string       `gorm:"primaryKey;size:36"`
	Name    string       `gorm:"size:40"`
	Details []TextDetail `gorm:"foreignKey:MasterID"`
}

type TextDetail struct {
	ID       string `gorm:"primaryKey;size:36"`
	MasterID string `gorm:"index;size:36"`
	Position int
	Text     string `gorm:"size:40"`
}

type ByteMaster struct { // a UUID of version 7, in 16 bytes
	ID      binaryUUID   `gorm:"primaryKey"`
	Name    string       `gorm:"size:40"`
	Details []ByteDetail `gorm:"foreignKey:MasterID"`
}

type ByteDetail struct {
	ID       binaryUUID `gorm:"primaryKey"`
	MasterID binaryUUID `gorm:"index"`
	Position int
	Text     string `gorm:"size:40"`
}

type binaryUUID uuid.UUID

func (u binaryUUID) Value() (driver.Value, error) { return u[:], nil }
func (u *binaryUUID) Scan(v any) error            { copy(u[:], v.([]byte)); return nil }
func (binaryUUID) GormDataType() string           { return "bytes" }
func (binaryUUID) GormDBDataType(db *gorm.DB, _ *schema.Field) string {
	return map[string]string{"postgres": "bytea", "mysql": "binary(16)", "sqlite": "blob"}[db.Name()]
}

// benchDatabases are one mode of each database.
func benchDatabases(b *testing.B, bench func(b *testing.B, d gorm.Dialector)) {
	b.Run("sqlite", func(b *testing.B) {
		bench(b, sqlite.Open("file:"+filepath.Join(b.TempDir(), "x.sqlite")+"?_pragma=foreign_keys(1)&_pragma=journal_mode(WAL)&_pragma=synchronous(0)"))
	})
	b.Run("postgres", func(b *testing.B) {
		pool := stdlib.OpenDB(*freshPostgres(b, testserver.Postgres(b).DSN))
		b.Cleanup(func() { _ = pool.Close() })
		bench(b, postgres.New(postgres.Config{Conn: pool}))
	})
	b.Run("mysql", func(b *testing.B) {
		for i, server := range testserver.MySQLs(b) {
			b.Run(fmt.Sprint(i), func(b *testing.B) {
				bench(b, mysql.New(mysql.Config{DSNConfig: freshMySQL(b, server.DSN)}))
			})
		}
	})
}

// BenchmarkMasterDetail writes 1,000 masters with 10 details each, in one
// transaction. Tables are emptied by DELETE between the runs.
//
//	go test -run='^$' -bench=MasterDetail -benchtime=3x -count=6 .
func BenchmarkMasterDetail(b *testing.B) {
	const masters, details = 1000, 10
	snow := func() []SnowMaster {
		rows := make([]SnowMaster, masters)
		for i := range rows {
			rows[i] = SnowMaster{Name: "master", Details: make([]SnowDetail, details)}
			for k := range rows[i].Details {
				rows[i].Details[k] = SnowDetail{Position: k, Text: "detail"}
			}
		}
		return rows
	}
	// gorm's own create of the slice. SQLite has not the parameters for it, and
	// gets it in batches.
	slice := func(db *gorm.DB) *gorm.DB {
		if db.Name() == "sqlite" {
			return db.Session(&gorm.Session{CreateBatchSize: 1000})
		}
		return db
	}
	ways := []struct {
		name string
		run  func(db *gorm.DB) error
	}{
		{"Create", func(db *gorm.DB) error {
			rows := snow()
			return gormplugin.Create(db.Statement.Context, db, rows)
		}},
		{"gorm", func(db *gorm.DB) error {
			rows := snow()
			return slice(db).Create(&rows).Error
		}},
		{"gorm-each-master", func(db *gorm.DB) error {
			rows := snow()
			return db.Transaction(func(tx *gorm.DB) error {
				for i := range rows {
					if err := tx.Create(&rows[i]).Error; err != nil {
						return err
					}
				}
				return nil
			})
		}},
		{"row-by-row", func(db *gorm.DB) error {
			rows := snow()
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
		}},
		{"auto-increment", func(db *gorm.DB) error {
			rows := make([]AutoMaster, masters)
			for i := range rows {
				rows[i] = AutoMaster{Name: "master", Details: make([]AutoDetail, details)}
				for k := range rows[i].Details {
					rows[i].Details[k] = AutoDetail{Position: k, Text: "detail"}
				}
			}
			return slice(db).Create(&rows).Error
		}},
		{"uuid-v4-text", func(db *gorm.DB) error {
			rows := make([]TextMaster, masters)
			for i := range rows {
				rows[i] = TextMaster{ID: uuid.NewString(), Name: "master", Details: make([]TextDetail, details)}
				for k := range rows[i].Details {
					rows[i].Details[k] = TextDetail{ID: uuid.NewString(), Position: k, Text: "detail"}
				}
			}
			return slice(db).Create(&rows).Error
		}},
		{"uuid-v7-binary", func(db *gorm.DB) error {
			rows := make([]ByteMaster, masters)
			for i := range rows {
				rows[i] = ByteMaster{ID: binaryUUID(uuid.Must(uuid.NewV7())), Name: "master", Details: make([]ByteDetail, details)}
				for k := range rows[i].Details {
					rows[i].Details[k] = ByteDetail{ID: binaryUUID(uuid.Must(uuid.NewV7())), Position: k, Text: "detail"}
				}
			}
			return slice(db).Create(&rows).Error
		}},
	}
	benchDatabases(b, func(b *testing.B, d gorm.Dialector) {
		db := graphHandle(b, d, nil, nil, &SnowMaster{}, &SnowDetail{}, &AutoMaster{}, &AutoDetail{}, &TextMaster{}, &TextDetail{}, &ByteMaster{}, &ByteDetail{})
		for _, way := range ways {
			b.Run(way.name, func(b *testing.B) {
				for b.Loop() {
					if err := way.run(db); err != nil {
						b.Fatal(err)
					}
					b.StopTimer()
					empty(b, db, "snow_details", "snow_masters", "auto_details", "auto_masters", "text_details", "text_masters", "byte_details", "byte_masters")
					b.StartTimer()
				}
			})
		}
	})
}
