package gormplugin_test

import (
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"
	"gorm.io/gorm/utils/tests"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type benchRow struct {
	ID   sqltype.ID
	Name string
	Sum  int64
}

// BenchmarkCreate1000 builds an INSERT of 1,000 rows without sending it: with
// keys set by hand and no plugin, and with keys that the plugin fills.
func BenchmarkCreate1000(b *testing.B) {
	for _, filled := range []bool{false, true} {
		name := map[bool]string{false: "set", true: "filled"}[filled]
		b.Run(name, func(b *testing.B) {
			db, err := gorm.Open(tests.DummyDialector{}, &gorm.Config{DryRun: true, Logger: logger.Discard})
			if err != nil {
				b.Fatal(err)
			}
			src := &counter{}
			if filled {
				use(b, db, gormplugin.Config{Source: src})
			}
			rows := make([]benchRow, 1000)
			b.ReportAllocs()
			for b.Loop() {
				for i := range rows {
					rows[i].ID = 0
					if !filled {
						rows[i].ID = sqltype.ID(i + 1)
					}
				}
				if err := db.Create(&rows).Error; err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
