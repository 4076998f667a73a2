package readme

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/glebarez/sqlite"
	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
)

// The ids of two nodes have the datacenter of each, and a node refuses that of the other.
func TestOpenNode(t *testing.T) {
	dir := t.TempDir()
	for datacenter, name := range []string{"first", "second"} {
		open := func() *gorm.DB {
			db, err := gorm.Open(sqlite.Open("file:"+filepath.Join(dir, name)+"?_pragma=busy_timeout(10000)"), &gorm.Config{})
			if err != nil {
				t.Fatal(err)
			}
			return db
		}
		db := open()
		if err := db.AutoMigrate(&Order{}, &OrderLine{}); err != nil {
			t.Fatal(err)
		}
		plugin, err := openNode(db, int64(datacenter))
		if err != nil {
			t.Fatal(err)
		}
		defer plugin.Close(context.Background())
		o := Order{Lines: []OrderLine{{SKU: "a"}}}
		if err := db.Create(&o).Error; err != nil {
			t.Fatal(err)
		}
		for _, id := range []int64{int64(o.ID), o.Lines[0].ID} {
			if p, err := core.Twitter().Decode(id); err != nil || p.Datacenter != int64(datacenter) {
				t.Errorf("%s: %+v, %v", name, p, err)
			}
		}
		var layout *worker.LayoutError
		if _, err := openNode(open(), int64(1-datacenter)); !errors.As(err, &layout) {
			t.Errorf("%s with the datacenter of the other: %v", name, err)
		}
	}
}
