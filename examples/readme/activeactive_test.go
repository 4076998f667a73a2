package readme

import (
	"context"
	"errors"
	"testing"

	"github.com/glebarez/sqlite"
	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
)

// The ids of a node have its datacenter, and the node refuses that of another.
func TestOpenNode(t *testing.T) {
	db := openGORM(t, &Order{}, &OrderLine{})
	other, err := gorm.Open(sqlite.Dialector{Conn: db.ConnPool}, &gorm.Config{})
	if err != nil {
		t.Fatal(err)
	}
	plugin, err := openNode(db, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer plugin.Close(context.Background())
	o := Order{Lines: []OrderLine{{SKU: "a"}}}
	if err := db.Create(&o).Error; err != nil {
		t.Fatal(err)
	}
	for _, id := range []int64{int64(o.ID), o.Lines[0].ID} {
		if p, err := core.Twitter().Decode(id); err != nil || p.Datacenter != 1 {
			t.Errorf("%+v, %v", p, err)
		}
	}
	var layout *worker.LayoutError
	if _, err := openNode(other, 0); !errors.As(err, &layout) {
		t.Errorf("with the datacenter of another: %v", err)
	}
}
