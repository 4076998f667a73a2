package gormplugin_test

import (
	"context"
	"strings"
	"testing"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/gormtest"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type (
	Depot struct {
		ID      sqltype.ID
		Packets []Packet
		Stamp   *Stamp
		Scales  []Scale `gorm:"foreignKey:Site"`
	}
	Packet struct {
		ID      sqltype.ID
		DepotID uint32
	}
	Stamp struct {
		ID      int64 `gorm:"autoIncrement:false;snowflake"`
		DepotID *int32
		Depot   *Depot
	}
	Scale struct {
		ID   sqltype.ID
		Site float64
	}
	// Its key comes from the database, so it may be small.
	Shelf struct {
		ID    uint32
		Boxes []Box
	}
	Box struct {
		ID      sqltype.ID
		ShelfID uint32
	}
	Pallet struct {
		ID    sqltype.ID
		Slots []Slot
	}
	Rack struct {
		ID     int64 `gorm:"autoIncrement:false;snowflake"`
		Spares []Spare
	}
	Slot struct {
		ID       sqltype.ID
		PalletID int64 `gorm:"type:int"`
	}
	Spare struct {
		ID     sqltype.ID
		RackID int64 `gorm:"size:32"`
	}
)

// gorm cuts a key to the bits of a smaller foreign key, so that a row would refer to nothing, or
// to another's row.
func TestNarrowForeignKeys(t *testing.T) {
	ctx := context.Background()
	for name, c := range map[string]struct {
		write func(*gorm.DB) error
		want  string // "": it succeeds
	}{
		"has many":          {func(db *gorm.DB) error { return db.Create(&Depot{Packets: []Packet{{}}}).Error }, "Packet.DepotID: its type uint32 cannot hold Depot.ID"},
		"has one, pointer":  {func(db *gorm.DB) error { return db.Create(&Depot{Stamp: &Stamp{}}).Error }, "Stamp.DepotID: its type *int32 cannot hold Depot.ID"},
		"belongs to":        {func(db *gorm.DB) error { return db.Create(&Stamp{Depot: &Depot{}}).Error }, "Stamp.DepotID: its type *int32 cannot hold Depot.ID"},
		"a float":           {func(db *gorm.DB) error { return db.Create(&[]Depot{{}, {Scales: []Scale{{}}}}).Error }, "Scale.Site: its type float64 cannot hold Depot.ID"},
		"saved":             {func(db *gorm.DB) error { return db.Save(&Depot{ID: 7, Packets: []Packet{{}}}).Error }, "Packet.DepotID: its type uint32"},
		"updated":           {func(db *gorm.DB) error { return db.Updates(&Depot{ID: 7, Packets: []Packet{{}}}).Error }, "Packet.DepotID: its type uint32"},
		"graph, has many":   {func(db *gorm.DB) error { return graph.Create(ctx, db, &Depot{Packets: []Packet{{}}}) }, "Packet.DepotID: its type uint32"},
		"graph, belongs to": {func(db *gorm.DB) error { return graph.Create(ctx, db, &Stamp{Depot: &Depot{}}) }, "Stamp.DepotID: its type *int32"},
		"assigned":          {func(db *gorm.DB) error { return graph.Assign(ctx, db, &Depot{Packets: []Packet{{}}}) }, "Packet.DepotID: its type uint32"},
		"appended":          {func(db *gorm.DB) error { return db.Model(&Depot{ID: 7}).Association("Packets").Append(&Packet{}) }, "Packet.DepotID: its type uint32"},
		"replaced":          {func(db *gorm.DB) error { return db.Model(&Stamp{ID: 7}).Association("Depot").Replace(&Depot{}) }, "Stamp.DepotID: its type *int32"},
		"without children":  {func(db *gorm.DB) error { return db.Create(&Depot{}).Error }, ""},
		"omitted":           {func(db *gorm.DB) error { return db.Omit("Packets").Create(&Depot{Packets: []Packet{{}}}).Error }, ""},
		"a counter's key":   {func(db *gorm.DB) error { return db.Create(&Shelf{ID: 3, Boxes: []Box{{}}}).Error }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := c.write(gormtest.Dry(t, gormplugin.Config{Source: &gormtest.Counter{}}))
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func TestValidateFindsNarrowForeignKeys(t *testing.T) {
	db := gormtest.Dry(t, gormplugin.Config{Source: &gormtest.Counter{}})
	err := gormplugin.Validate(db, &Depot{}, &Pallet{}, &Rack{}, &Box{})
	if err == nil {
		t.Fatal("no error")
	}
	want := []string{
		"Packet.DepotID: its type uint32 cannot hold Depot.ID, a key of 63 bits: make the types the same",
		"Stamp.DepotID: its type *int32 cannot hold",
		"Scale.Site: its type float64 cannot hold",
		`Slot.PalletID: the gorm tag "type:int" makes its column too small for Pallet.ID`,
		`Spare.RackID: the gorm tag "size:32" makes its column too small`,
	}
	for _, w := range want {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%v lacks %q", err, w)
		}
	}
	if n := strings.Count(err.Error(), "63 bits"); n != len(want) {
		t.Errorf("%d faults, want %d: %v", n, len(want), err)
	}
}
