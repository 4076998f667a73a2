package gormplugin

import (
	"path/filepath"
	"testing"

	"github.com/glebarez/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
	"gorm.io/plugin/dbresolver"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
	"github.com/seed-299c1d6b/snowkey/internal/databases"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type Badge struct {
	ID  sqltype.ID
	No  int64  `gorm:"uniqueIndex;snowflake"`
	Ref string `gorm:"size:20"`
}

// A plugin that leases fills rows of the sources of dbresolver, which are not its own pool, in each order
// of db.Use. The handles that dbresolver opens with a copy of the gorm.Config are no other databases.
func TestLeasedWithResolver(t *testing.T) {
	for name, resolverFirst := range map[string]bool{"the plugin first": false, "dbresolver first": true} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			open := func(name string) gorm.Dialector {
				return sqlite.Open("file:" + filepath.Join(dir, name) + "?_pragma=synchronous(FULL)&_pragma=busy_timeout(5000)")
			}
			for _, name := range []string{"main", "source", "replica"} {
				db := databases.HandleOf(t, open(name), &gorm.Config{Logger: logger.Discard})
				must(t, db.AutoMigrate(&Badge{}))
			}
			plugin := new(gormplugin.Plugin)
			resolver := dbresolver.Register(dbresolver.Config{Sources: []gorm.Dialector{open("source")}, Replicas: []gorm.Dialector{open("replica")}}, &Badge{})
			plugins := []gorm.Plugin{plugin, resolver}
			if resolverFirst {
				plugins[0], plugins[1] = plugins[1], plugins[0]
			}
			db := databases.HandleOf(t, open("main"), &gorm.Config{Logger: logger.Discard}, plugins...)
			for what, create := range map[string]func(b *Badge) error{
				"Create": func(b *Badge) error { return db.Create(b).Error },
				"graph":  func(b *Badge) error { return graph.Create(t.Context(), db, b) },
				"prepared": func(b *Badge) error {
					return db.Session(&gorm.Session{PrepareStmt: true}).Create(b).Error
				},
			} {
				badge := Badge{Ref: what}
				if err := create(&badge); err != nil || badge.ID == 0 || badge.No == 0 {
					t.Errorf("%s: %+v, %v", what, badge, err)
				}
			}
			var n int64
			if err := databases.HandleOf(t, open("source"), &gorm.Config{}).Model(&Badge{}).Count(&n).Error; err != nil || n != 3 {
				t.Errorf("%d rows in the source, %v", n, err)
			}
			if err := plugin.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}
