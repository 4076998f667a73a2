// Package oldtables tests that today's models migrate the tables of earlier versions in SQLite, and keep
// their rows.
package oldtables

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/glebarez/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
	"gorm.io/gorm/schema"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/internal/databases"
)

// Test migrates each state of testdata/old.sql in each way.
func Test(t *testing.T, prefix string, models ...any) {
	file, err := os.ReadFile(filepath.Join("testdata", "old.sql"))
	if err != nil {
		t.Fatal(err)
	}
	for _, state := range strings.Split(string(file), "-- state: ")[1:] {
		name, sql, _ := strings.Cut(state, "\n")
		for way, migrate := range map[string]func(db *gorm.DB) error{
			"Migrator": func(db *gorm.DB) error { return gormplugin.Migrator(db).AutoMigrate(models...) },
			"Migrator in a transaction": func(db *gorm.DB) error {
				return db.Transaction(func(tx *gorm.DB) error { return gormplugin.Migrator(tx).AutoMigrate(models...) })
			},
			"Migrator, and the keys": func(db *gorm.DB) error {
				return errors.Join(gormplugin.Migrator(db).AutoMigrate(models...), alterKeys(db, models))
			},
			"AutoMigrate": func(db *gorm.DB) error {
				if err := db.AutoMigrate(models...); err != nil && !strings.Contains(err.Error(), "use gormplugin.Migrator") {
					return err
				}
				return nil
			},
		} {
			t.Run(name+"/"+way, func(t *testing.T) {
				path := "file:" + filepath.Join(t.TempDir(), "old.sqlite") + "?_pragma=foreign_keys(1)"
				db := databases.HandleOf(t, sqlite.Open(path),
					&gorm.Config{Logger: logger.Discard, NamingStrategy: schema.NamingStrategy{TablePrefix: prefix}},
					gormplugin.New(gormplugin.Config{Source: databases.Generator(t, 1)}))
				if err := db.Exec(sql).Error; err != nil {
					t.Fatal(err)
				}
				before := rows(t, db)
				for range 2 {
					if err := migrate(db); err != nil {
						t.Error(err)
					}
					if after := rows(t, db); after != before {
						t.Errorf("the rows\n%s\nbecame\n%s", before, after)
					}
				}
			})
		}
	}
}

// alterKeys makes all keys that are bigint the rowid.
func alterKeys(db *gorm.DB, models []any) error {
	for _, model := range models {
		stmt := &gorm.Statement{DB: db}
		var bigint int64
		if err := stmt.Parse(model); err != nil {
			return err
		}
		isBigint := "SELECT count(*) FROM pragma_table_info(?) WHERE name = 'id' AND type = 'bigint'"
		if err := db.Raw(isBigint, stmt.Table).Scan(&bigint).Error; err != nil {
			return err
		}
		if bigint == 0 {
			continue
		}
		if err := gormplugin.Migrator(db).AlterColumn(model, "ID"); err != nil {
			return err
		}
		var wrong int64
		if err := db.Model(model).Where("rowid <> id").Count(&wrong).Error; err != nil || wrong > 0 {
			return errors.Join(err, fmt.Errorf("%T: %d keys are not the rowid", model, wrong))
		}
	}
	return nil
}

// rows returns all rows, and the foreign keys that refer to none.
func rows(t *testing.T, db *gorm.DB) string {
	t.Helper()
	var tables []string
	names := "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
	if err := db.Raw(names).Scan(&tables).Error; err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, table := range append(tables, "pragma_foreign_key_check") {
		var rows []map[string]any
		if err := db.Raw("SELECT * FROM " + table + " ORDER BY 1").Scan(&rows).Error; err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&all, table, rows)
	}
	return all.String()
}
