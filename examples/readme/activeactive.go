package readme

import (
	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// openNode opens a database of a node that has a datacenter of its own.
func openNode(db *gorm.DB, datacenter int64) (*gormplugin.Plugin, error) {
	plugin := gormplugin.New(gormplugin.Config{
		Models: []any{Order{}, OrderLine{}},
		Store:  sqlstore.Config{Lease: worker.Config{Namespace: "orders", Datacenter: &datacenter}},
	})
	return plugin, db.Use(plugin)
}
