package gormplugin

import (
	"strings"
	"testing"

	"gorm.io/gen"
	"gorm.io/gen/field"

	"github.com/seed-299c1d6b/snowkey/internal/integration/databases"
)

// Models that gorm.io/gen generates from a table have a key that gorm takes for auto-increment,
// unless one of these options changes it.
func TestModelsGeneratedFromATable(t *testing.T) {
	databases.OnEvery(t, func(t *testing.T, d databases.Database) {
		db := migrated(t, d)
		integer := "int64"
		if d.Name == "sqlite" {
			integer = "int32" // gen takes its integer for a small one: FieldType is needed there
		}
		g := gen.NewGenerator(gen.Config{OutPath: t.TempDir() + "/query"})
		g.UseDB(db)
		for name, option := range map[string]gen.ModelOpt{
			"type": gen.FieldType("id", "sqltype.ID"),
			"tag": gen.FieldGORMTag("id", func(tag field.GormTag) field.GormTag {
				return tag.Set("autoIncrement", "false").Set("snowflake", "other")
			}),
		} {
			made := g.GenerateModel("events", option)
			for _, f := range made.Fields {
				if f.ColumnName != "id" {
					continue
				}
				tag := f.GORMTag.Build()
				if !strings.Contains(tag, "primaryKey") || name == "type" && f.Type != "sqltype.ID" ||
					name == "tag" && (f.Type != integer || !strings.Contains(tag, "autoIncrement:false") || !strings.Contains(tag, "snowflake:other")) {
					t.Errorf("%s: %s %q", name, f.Type, tag)
				}
			}
		}
	})
}
