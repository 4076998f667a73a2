package gormplugin_test

import (
	"errors"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/gormtest"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Fails has hooks that fail, belongs to an order, and has children whose hooks fail.
type Fails struct {
	ID       sqltype.ID
	Number   string `gorm:"snowflake:base62"`
	Name     string `gorm:"uniqueIndex;check:name <> 'bad'"`
	OwnerID  *sqltype.ID
	Owner    *Order `gorm:"foreignKey:OwnerID"`
	Children []*Hooked
}

func (f *Fails) BeforeCreate(*gorm.DB) error {
	if f.Name == "before" {
		return errRefused
	}
	return nil
}

func (f *Fails) AfterSave(*gorm.DB) error {
	if f.Name == "after" {
		return errRefused
	}
	return nil
}

// OldOrder has a key of the database's, and belongs to an order that is filled.
type OldOrder struct {
	ID      int64
	Name    string `gorm:"check:name <> 'bad'"`
	OrderID sqltype.ID
	Order   *Order
}

// After a create that fails, what it filled is zero again, in rows, associations and maps. Keys that were set are kept.
func TestFailedCreateResets(t *testing.T) {
	src, orders := &gormtest.Counter{}, &gormtest.Counter{}
	db := gormtest.SQLite(t, gormplugin.Config{Source: src, Named: map[string]sqltype.Source{"orders": orders}}, &Order{}, &Line{}, &Fails{}, &Hooked{}, &HookedChild{}, &OldOrder{})
	must(t, db.Create(&Fails{ID: 7777, Name: "there"}).Error)
	made := func(name, child string) *Fails {
		return &Fails{Name: name, Owner: &Order{Lines: []Line{{}}}, Children: []*Hooked{{}, {Mode: child, Children: []HookedChild{{}}}}}
	}
	none := func() {}
	for name, c := range map[string]struct {
		row  *Fails
		tx   *gorm.DB
		fail func()
	}{
		"a source":           {made("x", ""), db, func() { src.Err = errRefused }},
		"a hook":             {made("before", ""), db, none},
		"the INSERT":         {made("bad", ""), db, none},
		"a duplicate":        {made("there", ""), db, none},
		"a child":            {made("x", "refuse"), db, none},
		"a child afterwards": {made("x", "refuse after"), db, none},
		"the last hook":      {made("after", ""), db, none},
		"with a conflict":    {made("bad", ""), db.Clauses(clause.OnConflict{UpdateAll: true}), none},
		"in a prepared one":  {made("bad", ""), db.Session(&gorm.Session{PrepareStmt: true}), none},
		"generics":           {made("after", ""), db.Set("generics", true), none},
	} {
		c.fail()
		var err error
		before := stored(t, db, "orders", "id")
		if name == "generics" {
			err = gorm.G[Fails](db).Create(t.Context(), c.row)
		} else {
			err = c.tx.Create(c.row).Error
		}
		if src.Err = nil; err == nil {
			t.Errorf("%s: no error", name)
		}
		if r := c.row; r.ID != 0 || r.Number != "" || r.Owner.ID != 0 || r.Owner.Lines[0].ID != 0 || r.Children[0].ID != 0 || r.Children[1].ID != 0 || r.Children[1].Children[0].ID != 0 {
			t.Errorf("%s: %+v, %+v, %+v", name, r, r.Owner, r.Children[1])
		}
		if after := stored(t, db, "orders", "id"); len(after) != len(before) {
			t.Errorf("%s: the orders %v, %v before", name, after, before)
		}
		idle(t, db)
		c.row.Name, c.row.Children = "again "+name, nil
		if err := db.Create(c.row).Error; err != nil || c.row.Owner.ID == 0 {
			t.Errorf("%s: again: %+v, %v", name, c.row.Owner, err)
		}
	}
	autocommit := db.Session(&gorm.Session{SkipDefaultTransaction: true}) // nothing is rolled back
	stays := made("after", "")
	if err := autocommit.Create(stays).Error; err == nil || stays.ID == 0 || stays.Owner.ID == 0 || stays.Children[0].ID == 0 {
		t.Errorf("without a transaction: %+v, %v", stays, err)
	}
	stays = made("bad", "")
	if err := autocommit.Create(stays).Error; err == nil || stays.ID != 0 || stays.Owner.ID == 0 || stays.Children[0].ID != 0 {
		t.Errorf("without a transaction, of a row that is refused: %+v, %v", stays, err)
	}
	old := &OldOrder{Name: "bad", Order: &Order{}}
	if err := db.Create(old).Error; err == nil || old.Order.ID != 0 {
		t.Errorf("below a row that is not filled: %d, %v", old.Order.ID, err)
	}
	good := made("first", "")
	tx := db.Create(good) // a later failure leaves its keys
	if err := tx.Create(made("bad", "")).Error; err == nil || good.ID == 0 || good.Owner.ID == 0 {
		t.Errorf("%+v, %v", good, err)
	}
	list, maps, single := []*Fails{{Name: "a", ID: 5}, {Name: "b"}, {Name: "bad"}}, []map[string]any{{"name": "c", "id": 6}, {"name": "d", "ID": nil}, {"name": "bad"}}, map[string]any{"name": "bad", "id": 0}
	if err := errors.Join(db.Create(list).Error, db.Model(&Fails{}).Create(&maps).Error, db.Model(&Fails{}).Create(single).Error); err == nil {
		t.Fatal("created")
	}
	if list[0].ID != 5 || list[1].ID != 0 || maps[0]["id"] != 6 || maps[1]["id"] != nil || maps[2]["id"] != nil || single["id"] != nil {
		t.Errorf("%v, %v, %v", keysOf(list), maps, single)
	}
	batches := []*Fails{{Name: "e"}, {Name: "f"}, {Name: "g"}, {Name: "bad"}}
	if err := db.CreateInBatches(batches, 2).Error; err == nil || batches[0].ID == 0 || batches[2].ID != 0 || batches[3].ID != 0 {
		t.Errorf("batches: %v, %v", keysOf(batches), err)
	}
	// The caller's own transaction: what has failed is reset, what has succeeded is not.
	good, bad := made("good", ""), made("bad", "")
	if err := db.Transaction(func(tx *gorm.DB) error {
		return errors.Join(tx.Create(good).Error, tx.Create(bad).Error)
	}); err == nil || good.ID == 0 || bad.ID != 0 {
		t.Errorf("%d, %d, %v", good.ID, bad.ID, err)
	}
}

// A COMMIT that fails may have succeeded: the keys are kept.
func TestFailedCommitKeepsKeys(t *testing.T) {
	db, _ := open(t, &Order{}, &Line{})
	must(t, db.Exec("CREATE TABLE pieces (id integer PRIMARY KEY, parcel_id integer REFERENCES orders (id) DEFERRABLE INITIALLY DEFERRED)").Error)
	p := Piece{ParcelID: 4711}
	if err := db.Create(&p).Error; err == nil || p.ID == 0 {
		t.Errorf("%+v, %v", p, err)
	}
}
