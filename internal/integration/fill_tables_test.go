package integration

import (
	"errors"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Ticket has a number in the archive's table, and another in its own.
type Ticket struct {
	ID     sqltype.ID
	No     int64
	Ref    string `gorm:"size:19"`
	Parent *Ticket

	ParentID *sqltype.ID // in either table
}

// ticketColumns are those of a Ticket, for gorm's migrator takes no relations under another name.
type ticketColumns struct {
	ID       sqltype.ID
	No       int64
	Ref      string `gorm:"size:19"`
	ParentID *sqltype.ID
}

// Where db.Table names a table, it is that table's columns that are filled.
func TestConfiguredTableOfTheStatement(t *testing.T) {
	onEvery(t, func(t *testing.T, d database) {
		db, err := gorm.Open(d.open(t), &gorm.Config{Logger: logger.Discard, DisableForeignKeyConstraintWhenMigrating: true})
		if err != nil {
			t.Fatal(err)
		}
		pool, err := db.DB()
		if err != nil {
			t.Fatal(err)
		}
		defer pool.Close()
		p := gormplugin.New(gormplugin.Config{Source: &tally{}, Tables: map[string]gormplugin.Table{
			"archive": {Column: "no"},
			"tickets": {Column: "ref", Text: "decimal"},
		}})
		if err := errors.Join(db.Use(p), db.AutoMigrate(&Ticket{}), db.Table("archive").AutoMigrate(&ticketColumns{}), db.Table("elsewhere").AutoMigrate(&ticketColumns{})); err != nil {
			t.Fatal(err)
		}
		one, list, mapped := Ticket{}, []*Ticket{{}, {}}, map[string]any{"ref": ""}
		whole, only, parent := &Ticket{}, &Ticket{}, &Ticket{Parent: &Ticket{}}
		archive := func() *gorm.DB { return db.Table("archive") }
		if err := errors.Join(
			archive().Create(&one).Error, archive().Create(list).Error, archive().Model(&Ticket{}).Create(mapped).Error,
			graph.Create(t.Context(), archive(), whole), graph.Assign(t.Context(), archive(), only),
			archive().Create(parent).Error,
		); err != nil {
			t.Fatal(err)
		}
		for i, ticket := range append(list, &one, whole, only, parent) {
			if ticket.ID == 0 || ticket.No == 0 || ticket.Ref != "" {
				t.Errorf("%d: %+v", i, ticket)
			}
		}
		if parent.Parent.No != 0 || parent.Parent.Ref == "" {
			t.Errorf("what it belongs to is in the model's own table: %+v", parent.Parent)
		}
		var n, zero int64
		if err := errors.Join(archive().Count(&n).Error, db.Table("archive").Where("no = 0 OR no IS NULL").Count(&zero).Error); err != nil || n != 6 || zero != 0 {
			t.Errorf("%d rows, %d without a number, %v", n, zero, err)
		}

		own, other := Ticket{}, Ticket{}
		if err := errors.Join(db.Create(&own).Error, db.Table("elsewhere").Create(&other).Error); err != nil {
			t.Fatal(err)
		}
		if own.No != 0 || own.Ref == "" || other.No != 0 || other.Ref == "" {
			t.Errorf("in its own table %+v, in one that is not configured %+v", own, other)
		}
	})
}

// Voucher may have no key yet, in a struct and in a map.
type Voucher struct {
	ID   sqltype.NullID `gorm:"primaryKey;snowflake"`
	Name string         `gorm:"size:20"`
}

// A NullID that is not valid is NULL, whatever its ID says.
func TestNullInMaps(t *testing.T) {
	onEvery(t, func(t *testing.T, d database) {
		db := graphHandle(t, d.open(t), nil, nil, &Voucher{})
		null, set := sqltype.NullID{ID: 5}, sqltype.NullID{ID: 6, Valid: true}
		for name, value := range map[string]any{"value": null, "pointer": &null, "zero": sqltype.NullID{}, "nil": nil, "set": set, "pointer to set": &sqltype.NullID{ID: 7, Valid: true},
			"key": sqltype.NullKey[Voucher]{Key: 5}, "key set": &sqltype.NullKey[Voucher]{Key: 8, Valid: true}} {
			t.Run(name, func(t *testing.T) {
				m := map[string]any{"id": value, "name": name}
				if err := db.Model(&Voucher{}).Create(m).Error; err != nil {
					t.Errorf("%s: %v", name, err)
				}
			})
		}
		if null != (sqltype.NullID{ID: 5}) {
			t.Errorf("the caller's is %v", null)
		}
		var rows []Voucher
		if err := db.Find(&rows).Error; err != nil || len(rows) != 8 {
			t.Fatalf("%v, %v", rows, err)
		}
		for _, r := range rows {
			kept := map[string]sqltype.ID{"set": 6, "pointer to set": 7, "key set": 8}[r.Name]
			if !r.ID.Valid || r.ID.ID == 5 || (kept != 0) != (r.ID.ID == kept) {
				t.Errorf("%+v", r)
			}
		}
	})
}
