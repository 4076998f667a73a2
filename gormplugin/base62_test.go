package gormplugin_test

import (
	"slices"
	"strings"
	"testing"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/internal/databases"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// migrateTwice creates the tables of the models. The second run changes nothing.
func migrateTwice(t *testing.T, db *gorm.DB, models ...any) {
	t.Helper()
	for i := range 2 {
		tx, sent := databases.Record(db)
		must(t, gormplugin.Migrator(tx).AutoMigrate(models...))
		for _, sql := range sent.SQL {
			if i > 0 && (strings.HasPrefix(sql, "ALTER") || strings.HasPrefix(sql, "CREATE")) {
				t.Errorf("migrating again sent %s", sql)
			}
		}
	}
}

func checkNoAutoIncrement(t *testing.T, db *gorm.DB, model any) {
	t.Helper()
	types, err := db.Migrator().ColumnTypes(model)
	must(t, err)
	i := slices.IndexFunc(types, func(c gorm.ColumnType) bool { return c.Name() == "id" })
	if auto, known := types[i].AutoIncrement(); known && auto {
		t.Error("the key is auto-increment")
	}
	if def, has := types[i].DefaultValue(); has && def != "" {
		t.Errorf("the key has the default %q", def)
	}
}

// Base 62 in the syntax of each database: the column must be case-sensitive, and sort by bytes.
type (
	base62SQLite struct {
		ID string `gorm:"primaryKey;size:11;snowflake:base62"`
		N  int
	}
	base62Postgres struct {
		ID string `gorm:"primaryKey;type:varchar(11) COLLATE \"C\";snowflake:base62"`
		N  int
	}
	base62Child struct {
		ID       sqltype.ID
		ParentID string          `gorm:"type:varchar(11) COLLATE \"C\""`
		Parent   *base62Postgres `gorm:"foreignKey:ParentID"`
	}
	base62MySQL struct {
		ID string `gorm:"primaryKey;type:char(11) CHARACTER SET ascii COLLATE ascii_bin;snowflake:base62"`
		N  int
	}
)

func TestBase62Keys(t *testing.T) {
	databases.OnEvery(t, func(t *testing.T, d databases.Database) {
		switch d.Name {
		case "sqlite":
			testBase62(t, d, func(r *base62SQLite) (*string, *int) { return &r.ID, &r.N })
		case "postgres":
			testBase62(t, d, func(r *base62Postgres) (*string, *int) { return &r.ID, &r.N }, &base62Child{})
		case "mysql":
			testBase62(t, d, func(r *base62MySQL) (*string, *int) { return &r.ID, &r.N })
			// A column that would ignore case is refused when the plugin checks the model, and when a row is created.
			db := databases.Handle(t, d, fillPlugin(databases.Generator(t, 1)))
			for _, err := range []error{gormplugin.Validate(db, &base62SQLite{}), db.Create(&base62SQLite{}).Error} {
				if err == nil || !strings.Contains(err.Error(), "ascii_bin") {
					t.Error(err)
				}
			}
		}
	})
}

func testBase62[T any](t *testing.T, d databases.Database, of func(*T) (*string, *int), children ...any) {
	models := append([]any{new(T)}, children...)
	db := databases.Handle(t, d, fillPlugin(databases.Generator(t, 1), models...))
	migrateTwice(t, db, models...)
	rows := make([]T, 300) // of one or two milliseconds, so that they differ in the case of few letters
	for i := range rows {
		_, n := of(&rows[i])
		*n = i
	}
	must(t, db.Create(&rows).Error)
	var back []T
	if err := db.Order("id").Find(&back).Error; err != nil || len(back) != len(rows) {
		t.Fatalf("%d rows, %v", len(back), err)
	}
	for i := range back {
		if id, n := of(&back[i]); *n != i || len(*id) != 11 {
			t.Errorf("row %d is %d with the key %s: the order is not that of creation", i, *n, *id)
		}
	}
}
