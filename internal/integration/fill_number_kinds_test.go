package integration

import (
	"database/sql/driver"
	"fmt"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// PrintedNo is an integer to Go and a text to the database.
type PrintedNo int64

func (n PrintedNo) Value() (driver.Value, error) { return fmt.Sprintf("K-%d", int64(n)), nil }

func (n *PrintedNo) Scan(v any) error {
	_, err := fmt.Sscanf(fmt.Sprintf("%s", v), "K-%d", (*int64)(n))
	return err
}

type PrintedTicket struct {
	ID    sqltype.ID
	No    PrintedNo `gorm:"type:varchar(30);uniqueIndex;snowflake"`
	Title string    `gorm:"size:20"`
}

// BatchRow has a number that several rows share.
type BatchRow struct {
	ID    uint   `gorm:"snowflake:-"`
	Batch int64  `gorm:"snowflake"`
	Ref   string `gorm:"size:20;uniqueIndex"`
}

// onFresh runs a test on new tables of these models.
func onFresh(t *testing.T, models []any, test func(t *testing.T, db *gorm.DB)) {
	onFreshDatabase(t, models, func(t *testing.T, _ database, db *gorm.DB) { test(t, db) })
}

func onFreshDatabase(t *testing.T, models []any, test func(t *testing.T, d database, db *gorm.DB)) {
	onEvery(t, func(t *testing.T, d database) {
		gen, err := core.New(core.Config{Worker: core.Fixed(1)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(gen.Close)
		db := fillHandle(t, d, fillPlugin(gen))
		for _, model := range models {
			if err := db.Migrator().DropTable(model); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.AutoMigrate(models...); err != nil {
			t.Fatal(err)
		}
		test(t, d, db)
	})
}

// A number whose type writes it in a form of its own is compared in that form.
func TestSaveKeepsThePrintedNumber(t *testing.T) {
	onFresh(t, []any{&PrintedTicket{}}, func(t *testing.T, db *gorm.DB) {
		first := &PrintedTicket{Title: "first"}
		if err := db.Create(first).Error; err != nil {
			t.Fatal(err)
		}
		list := []PrintedTicket{{ID: first.ID, Title: "second"}, {No: 4711, Title: "chosen"}}
		if err := db.Save(&list).Error; err != nil {
			t.Fatal(err)
		}
		var row PrintedTicket
		if err := db.Take(&row, first.ID).Error; err != nil || row.No != first.No || row.Title != "second" || list[0].No != first.No {
			t.Errorf("the number %d: the row is %+v, the struct %+v, %v", first.No, row, list[0], err)
		}
	})
}

// A number that several rows share does not identify the row of a struct.
func TestUpsertWithSharedNumber(t *testing.T) {
	onFresh(t, []any{&BatchRow{}}, func(t *testing.T, db *gorm.DB) {
		if err := db.Create(&[]BatchRow{{Batch: 7, Ref: "a"}, {Batch: 7, Ref: "b"}}).Error; err != nil {
			t.Fatal(err)
		}
		byRef := []clause.Column{{Name: "ref"}}
		for name, on := range map[string]clause.OnConflict{
			"any": {DoNothing: true}, "by ref": {Columns: byRef, DoNothing: true}, "all": {Columns: byRef, UpdateAll: true},
		} {
			list := []BatchRow{{Batch: 7, Ref: "b"}, {Batch: 7, Ref: "new " + name}, {Ref: "filled " + name}}
			if err := db.Clauses(on).Create(&list).Error; err != nil {
				t.Errorf("%s: %v", name, err)
			}
			for _, p := range list {
				var row BatchRow
				if err := db.Where("ref = ?", p.Ref).Take(&row).Error; err != nil || row != p || row.Batch == 0 {
					t.Errorf("%s: the struct is %+v, the row %+v, %v", name, p, row, err)
				}
			}
		}
	})
}

// The numbers of a large list do not use up the parameters of its statement.
func TestSaveKeepsTheNumbersOfManyRows(t *testing.T) {
	onFreshDatabase(t, []any{&Badge{}, &Licence{}}, func(t *testing.T, d database, db *gorm.DB) {
		n := d.size(16000, 1000) // of four columns
		if db.Name() == "sqlite" {
			n = 8000
		}
		badges, licences, chosen := make([]Badge, n), make([]Licence, n), "1"
		for i := range n {
			badges[i].Ref, licences[i].Ref = fmt.Sprint(i), fmt.Sprint(i)
		}
		badges[0].No, licences[0].No = 1, &chosen
		old := Badge{Ref: "old"}
		if err := db.Create(&old).Error; err != nil {
			t.Fatal(err)
		}
		badges[1] = Badge{ID: old.ID, Ref: "old"}
		if err := db.Save(&badges).Error; err != nil || badges[1].No != old.No {
			t.Errorf("the number %d became %d: %.200v", old.No, badges[1].No, err)
		}
		byRef := clause.OnConflict{Columns: []clause.Column{{Name: "ref"}}, UpdateAll: true}
		if err := db.Clauses(byRef).Create(&licences).Error; err != nil {
			t.Errorf("numbers that are texts: %.200v", err)
		}
	})
}

// An update leaves the number alone where it is zero in what is written, not in what the
// row is found by.
func TestUpdateOfTheNumber(t *testing.T) {
	onFresh(t, []any{&Badge{}}, func(t *testing.T, db *gorm.DB) {
		b := Badge{Ref: "a"}
		if err := db.Create(&b).Error; err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			name   string
			update func(db *gorm.DB) *gorm.DB
			number int64
		}{
			{"Save of a value", func(db *gorm.DB) *gorm.DB { return db.Save(Badge{ID: b.ID, Ref: "a", Title: "value"}) }, b.No},
			{"Save under a Model", func(db *gorm.DB) *gorm.DB { return db.Model(&Badge{ID: b.ID, No: 5}).Save(&Badge{ID: b.ID, Ref: "a"}) }, b.No},
			{"all columns", func(db *gorm.DB) *gorm.DB {
				return db.Model(&Badge{ID: b.ID}).Select("*").Omit("ID").Updates(&Badge{No: 77, Ref: "a"})
			}, 77},
			{"a map with a key that is not selected", func(db *gorm.DB) *gorm.DB {
				return db.Model(&Badge{ID: b.ID}).Select("no").Updates(map[string]any{"id": 0, "no": 78})
			}, 78},
			{"a map with a key that is omitted", func(db *gorm.DB) *gorm.DB {
				return db.Model(&Badge{ID: b.ID}).Omit("id").Updates(map[string]any{"id": 0, "no": 79})
			}, 79},
		} {
			t.Run(c.name, func(t *testing.T) {
				var row Badge
				if err := c.update(db).Error; err != nil {
					t.Errorf("%s: %v", c.name, err)
				} else if err := db.Take(&row, b.ID).Error; err != nil || row.No != c.number {
					t.Errorf("%s: %+v, %v, want the number %d", c.name, row, err, c.number)
				}
			})
		}
		fresh := Badge{ID: 99, Ref: "fresh"}
		if err := db.Save(&fresh).Error; err != nil || fresh.No == 0 {
			t.Errorf("Save of a new row under a key: %+v, %v", fresh, err)
		}
	})
}

// HookedNo has a number that a hook sets.
type HookedNo struct {
	ID   sqltype.ID
	No   int64  `gorm:"uniqueIndex;snowflake"`
	Ref  string `gorm:"size:20;uniqueIndex"`
	Want int64  `gorm:"-"`
}

func (h *HookedNo) BeforeCreate(*gorm.DB) error {
	if h.Want != 0 {
		h.No = h.Want
	}
	return nil
}

// A number that a hook sets is asked for, and is written to the row that exists.
func TestUpsertWithTheNumberOfAHook(t *testing.T) {
	onFresh(t, []any{&HookedNo{}}, func(t *testing.T, db *gorm.DB) {
		rows := []HookedNo{{Ref: "a"}, {Ref: "b"}}
		if err := db.Create(&rows).Error; err != nil {
			t.Fatal(err)
		}
		list := []HookedNo{{Ref: "a", Want: 77}, {Ref: "b"}}
		if err := db.Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "ref"}}, UpdateAll: true}).Create(&list).Error; err != nil {
			t.Fatal(err)
		}
		for i, want := range []int64{77, rows[1].No} {
			var row HookedNo
			if err := db.Take(&row, rows[i].ID).Error; err != nil || row.No != want || list[i].No != want || list[i].ID != rows[i].ID {
				t.Errorf("the row is %+v, the struct %+v, %v; want the number %d", row, list[i], err, want)
			}
		}
	})
}
