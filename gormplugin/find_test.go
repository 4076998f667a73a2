package gormplugin_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

var doNothing = clause.OnConflict{DoNothing: true}

// gorm refills a slice from RETURNING *: the plugin names the columns, so that the structs stay.
func TestReturningAll(t *testing.T) {
	db, _ := open(t, &Badge{})
	list := []Badge{{Ref: "a"}, {Ref: "b"}, {Ref: "a"}}
	if err := db.Clauses(clause.Returning{}).Create(&list).Error; err == nil || len(list) != 3 || list[0].ID != 0 {
		t.Errorf("a duplicate: %v, %v", list, err)
	}
	idle(t, db)
	a, b := &Badge{Ref: "a"}, &Badge{Ref: "b"}
	pointers := []*Badge{a, b}
	if err := db.Clauses(clause.Returning{}).Create(&pointers).Error; err != nil || pointers[1] != b || b.ID == 0 {
		t.Errorf("pointers: %v, %v", b, err)
	}
	one := []Badge{{Ref: "a"}}
	if err := db.Clauses(doNothing, clause.Returning{}).Create(&one).Error; err != nil || len(one) != 1 || one[0].ID != a.ID {
		t.Errorf("one that exists: %v, %v", one, err)
	}
	idle(t, db)
}

type (
	Voucher struct {
		ID    sqltype.ID
		Token string `gorm:"unique;default:(hex(randomblob(8)))"`
		Ref   string `gorm:"uniqueIndex"`
		Uses  []VoucherUse
	}
	VoucherUse struct {
		ID        sqltype.ID
		VoucherID sqltype.ID
	}
	Doc struct {
		ID   sqltype.ID
		Code *string `gorm:"unique"`
		Slug string  `gorm:"->;unique"`
		Ref  string  `gorm:"uniqueIndex"`
	}
	Contact struct {
		ID     sqltype.ID
		Active bool
		Email  string `gorm:"uniqueIndex:email,where:active"`
		Phone  string `gorm:"uniqueIndex:phone,where:NOT active"`
	}
	TenantConf struct {
		TenantID int64      `gorm:"primaryKey;autoIncrement:false;uniqueIndex"`
		ID       sqltype.ID `gorm:"primaryKey;snowflake"`
		V        string
	}
	Part struct {
		ID        sqltype.ID `gorm:"primaryKey;snowflake"`
		CreatedAt time.Time  `gorm:"primaryKey"`
		Ref       string     `gorm:"uniqueIndex"`
	}
	Stub struct {
		Number int64  `gorm:"snowflake"`
		Ref    string `gorm:"uniqueIndex"`
	}
	License struct {
		ID     uint
		Number *string `gorm:"size:19;uniqueIndex;snowflake"`
		Ref    string  `gorm:"uniqueIndex"`
	}
)

// A look-up goes by the values that were sent, not by those that a struct holds after the INSERT.
func TestUpsertFindsBySentValues(t *testing.T) {
	db, _ := open(t, &Voucher{}, &VoucherUse{}, &Doc{}, &TenantConf{}, &Part{}, &License{}, &Stub{})
	voucher := Voucher{Ref: "a"}
	must(t, db.Create(&voucher).Error)
	vouchers := []Voucher{{Ref: "a", Uses: []VoucherUse{{}}}, {Ref: "b"}}
	if err := db.Clauses(doNothing).Create(&vouchers).Error; err != nil || vouchers[0].ID != voucher.ID || vouchers[1].ID == voucher.ID || vouchers[0].Uses[0].VoucherID != voucher.ID {
		t.Errorf("next to a default of the database: %+v, want %d, %v", vouchers, voucher.ID, err)
	}
	docs := []Doc{{Ref: "a", Code: new("c")}, {Ref: "b"}}
	must(t, db.Create(&docs).Error)
	doc := Doc{Ref: "b", Code: new("c"), Slug: "s"}
	if err := db.Omit("Code").Clauses(doNothing).Create(&doc).Error; err != nil || doc.ID != docs[1].ID {
		t.Errorf("a column left out: %v, want %d, %v", doc.ID, docs[1].ID, err)
	}
	conf, again := TenantConf{TenantID: 1}, TenantConf{TenantID: 1, V: "new"}
	byTenant := clause.OnConflict{Columns: []clause.Column{{Name: "tenant_id"}}, DoUpdates: clause.AssignmentColumns([]string{"v"})}
	if err := errors.Join(db.Create(&conf).Error, db.Clauses(byTenant).Create(&again).Error); err != nil || again.ID != conf.ID {
		t.Errorf("a part of the key: %d, want %d, %v", again.ID, conf.ID, err)
	}
	parts := []Part{{Ref: "a"}, {Ref: "b"}}
	must(t, db.Create(&parts[0]).Error)
	mixed := []Part{{Ref: "a"}, {Ref: "c"}}
	if err := db.Clauses(doNothing).Create(&mixed).Error; err != nil || mixed[0].ID != parts[0].ID || mixed[1].ID == 0 || mixed[1].CreatedAt.IsZero() {
		t.Errorf("a time in the key: %+v, %v", mixed, err)
	}
	license := License{Ref: "a"}
	must(t, db.Create(&license).Error)
	licenses := []License{{Number: new("4711"), Ref: "a"}, {Ref: "b"}}
	if err := db.Clauses(doNothing).Create(&licenses).Error; err != nil || licenses[0].ID != license.ID || licenses[1].ID == license.ID || licenses[1].ID == 0 {
		t.Errorf("a key of the database's: %+v, want %d, %v", licenses, license.ID, err)
	}
	must(t, db.Create(&Stub{Number: 4711, Ref: "a"}).Error)
	stubs := []Stub{{Ref: "a"}, {Ref: "b"}}
	err := db.Clauses(clause.OnConflict{Columns: byRef, DoNothing: true}).Create(&stubs).Error
	if err != nil || stubs[0].Number != 4711 || stubs[1].Number == 0 {
		t.Errorf("no key: %+v, %v", stubs, err)
	}
}

// A row that collides with several is refused, since only the database knows which it took.
func TestUpsertOfSeveral(t *testing.T) {
	db, _ := open(t, &Contact{})
	must(t, db.Create(&[]Contact{{Active: true, Email: "e", Phone: "1"}, {Email: "f", Phone: "2"}}).Error)
	c := Contact{Email: "e", Phone: "2"} // collides with the second only: the first index is of active ones
	if err := db.Clauses(doNothing).Create(&c).Error; err == nil || !strings.Contains(err.Error(), "row 0 collides with several rows") || c.ID != 0 {
		t.Errorf("%+v, %v", c, err)
	}
}

// What prevents a look-up is an error: no row gets a wrong key.
func TestUpsertUnseen(t *testing.T) {
	for name, change := range map[string]func(db *gorm.DB) error{
		"snowkey:resolve did not run": func(db *gorm.DB) error {
			return db.Callback().Create().Remove("gorm:save_after_associations")
		},
		"a callback adds a conflict clause after snowkey:check": func(db *gorm.DB) error {
			return db.Callback().Create().Before("gorm:create").After("snowkey:check").Register("app:nothing", func(db *gorm.DB) { db.Statement.AddClause(doNothing) })
		},
	} {
		db, _ := open(t, &Badge{})
		must(t, errors.Join(db.Create(&Badge{Ref: "a"}).Error, change(db)))
		b := Badge{Ref: "a"}
		if err := db.Clauses(doNothing).Create(&b).Error; name == "a callback adds a conflict clause after snowkey:check" && err == nil {
			err = db.Create(&b).Error
			if err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%v, want %s", err, name)
			}
		} else if err == nil || !strings.Contains(err.Error(), name) || b.ID != 0 {
			t.Errorf("%+v, %v, want %s", b, err, name)
		}
		idle(t, db)
	}
}
