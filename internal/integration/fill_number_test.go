package integration

import (
	"database/sql/driver"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Each has a public number that is filled, beside a key that is filled, or that the database makes.
type (
	Badge struct {
		ID    sqltype.ID
		No    int64  `gorm:"uniqueIndex;snowflake"`
		Ref   string `gorm:"size:20;uniqueIndex"`
		Title string `gorm:"size:20"`
	}
	Consignment struct {
		ID    uint           `gorm:"snowflake:-"`
		No    sqltype.NullID `gorm:"uniqueIndex;snowflake"`
		Ref   string         `gorm:"size:20;uniqueIndex"`
		Title string         `gorm:"size:20"`
	}
	Licence struct {
		ID    uint    `gorm:"snowflake:-"`
		No    *string `gorm:"size:19;uniqueIndex;snowflake"`
		Ref   string  `gorm:"size:20;uniqueIndex"`
		Title string  `gorm:"size:20"`
	}
)

// numbered are rows of one of these models, known by their Ref.
type numbered struct {
	t     *testing.T
	db    *gorm.DB
	model reflect.Type
}

// rows makes a pointer to a slice of rows with these refs.
func (n *numbered) rows(title string, refs ...string) reflect.Value {
	list := reflect.New(reflect.SliceOf(n.model))
	for _, ref := range refs {
		row := reflect.New(n.model).Elem()
		row.FieldByName("Ref").SetString(ref)
		row.FieldByName("Title").SetString(title)
		list.Elem().Set(reflect.Append(list.Elem(), row))
	}
	return list
}

// stored is the row with the ref.
func (n *numbered) stored(ref string) reflect.Value {
	n.t.Helper()
	row := reflect.New(n.model)
	if err := n.db.Where("ref = ?", ref).Take(row.Interface()).Error; err != nil {
		n.t.Fatal(err)
	}
	return row.Elem()
}

func number(row reflect.Value) string {
	return fmt.Sprint(indirectly(row.FieldByName("No")))
}

func indirectly(v reflect.Value) any {
	if v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	return v.Interface()
}

// same checks that the structs are what the database has.
func (n *numbered) same(what string, list reflect.Value) {
	n.t.Helper()
	for i := range list.Elem().Len() {
		row := list.Elem().Index(i)
		stored := n.stored(row.FieldByName("Ref").String())
		if number(row) != number(stored) || row.FieldByName("ID").Interface() != stored.FieldByName("ID").Interface() || number(stored) == "0" {
			n.t.Errorf("%s: the struct is %+v, the row %+v", what, row.Interface(), stored.Interface())
		}
	}
}

func onNumbers(t *testing.T, test func(n *numbered)) {
	onEvery(t, func(t *testing.T, d database) {
		gen, err := core.New(core.Config{Worker: core.Fixed(1)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = gen.Close() })
		for _, model := range []any{&Badge{}, &Consignment{}, &Licence{}} {
			kind := reflect.TypeOf(model).Elem()
			t.Run(kind.Name(), func(t *testing.T) {
				db := fillHandle(t, d, fillPlugin(t, gen))
				if err := db.Migrator().DropTable(model); err != nil {
					t.Fatal(err)
				}
				if err := db.AutoMigrate(model); err != nil {
					t.Fatal(err)
				}
				test(&numbered{t, db, kind})
			})
		}
	})
}

// What an upsert meets keeps its number, and the struct has it, with the row's key.
func TestUpsertKeepsTheNumber(t *testing.T) {
	onNumbers(t, func(n *numbered) {
		byRef := []clause.Column{{Name: "ref"}}
		graph := func(db *gorm.DB, list any) error { return gormplugin.Create(n.t.Context(), db, list) }
		plain := func(db *gorm.DB, list any) error { return db.Create(list).Error }
		ways := map[string]clause.Expression{
			"DoNothing":        clause.OnConflict{DoNothing: true},
			"DoNothing by ref": clause.OnConflict{Columns: byRef, DoNothing: true},
			"DoUpdates":        clause.OnConflict{Columns: byRef, DoUpdates: clause.AssignmentColumns([]string{"title"})},
			"UpdateAll":        clause.OnConflict{Columns: byRef, UpdateAll: true},
		}
		switch n.db.Name() {
		case "mysql":
			ways["INSERT IGNORE"] = clause.Insert{Modifier: "IGNORE"}
		case "sqlite":
			ways["INSERT OR IGNORE"] = clause.Insert{Modifier: "OR IGNORE"}
		}
		round := 0
		for name, way := range ways {
			for how, create := range map[string]func(*gorm.DB, any) error{"Create": plain, "graph": graph} {
				what := how + " " + name
				round++
				ref := func(s string) string { return s + fmt.Sprint(round) }
				first := n.rows("first", ref("a"))
				if err := create(n.db, first.Interface()); err != nil {
					n.t.Fatalf("%s: %v", what, err)
				}
				before := number(n.stored(ref("a")))
				list := n.rows("second", ref("b"), ref("a"), ref("c"))
				if err := create(n.db.Clauses(way), list.Interface()); err != nil {
					n.t.Errorf("%s: %v", what, err)
					continue
				}
				if after := n.stored(ref("a")); number(after) != before {
					n.t.Errorf("%s: the number %s became %s", what, before, number(after))
				} else if updates := after.FieldByName("Title").String() == "second"; updates != (name == "DoUpdates" || name == "UpdateAll") {
					n.t.Errorf("%s: the row is %+v", what, after.Interface())
				}
				n.same(what, list)
			}
		}
	})
}

// Save of a slice gives new rows numbers and leaves those of others, whether they were read or not.
func TestSaveKeepsTheNumber(t *testing.T) {
	onNumbers(t, func(n *numbered) {
		list := n.rows("first", "a", "b", "c")
		if err := n.db.Create(list.Interface()).Error; err != nil {
			n.t.Fatal(err)
		}
		was := map[string]string{}
		for _, ref := range []string{"a", "b", "c"} {
			was[ref] = number(n.stored(ref))
		}
		unread := n.rows("second", "a", "new")
		unread.Elem().Index(0).FieldByName("ID").Set(n.stored("a").FieldByName("ID"))
		mixed := n.rows("second", "b", "c", "newer")
		for i, ref := range []string{"b", "c"} {
			mixed.Elem().Index(i).FieldByName("ID").Set(n.stored(ref).FieldByName("ID"))
		}
		other := reflect.New(n.model)
		other.Elem().FieldByName("Ref").SetString("other")
		if err := n.db.Create(other.Interface()).Error; err != nil {
			n.t.Fatal(err)
		}
		chosen := other.Elem().FieldByName("No") // one that was asked for: the row of it goes
		if err := n.db.Delete(other.Interface()).Error; err != nil {
			n.t.Fatal(err)
		}
		mixed.Elem().Index(1).FieldByName("No").Set(chosen)
		for what, some := range map[string]reflect.Value{"rows not read": unread, "some read": mixed} {
			if err := n.db.Save(some.Interface()).Error; err != nil {
				n.t.Fatalf("%s: %v", what, err)
			}
			n.same(what, some)
		}
		for _, ref := range []string{"a", "b"} {
			if row := n.stored(ref); number(row) != was[ref] || row.FieldByName("Title").String() != "second" {
				n.t.Errorf("the number %s of %s: %+v", was[ref], ref, row.Interface())
			}
		}
		if got, want := number(n.stored("c")), fmt.Sprint(indirectly(chosen)); got != want {
			n.t.Errorf("the number %s was asked for, and it is %s", want, got)
		}
		one := n.rows("third", "a").Elem().Index(0)
		one.FieldByName("ID").Set(n.stored("a").FieldByName("ID"))
		if err := n.db.Save(one.Addr().Interface()).Error; err != nil {
			n.t.Fatal(err)
		}
		if row := n.stored("a"); number(row) != was["a"] || row.FieldByName("Title").String() != "third" {
			n.t.Errorf("Save of one row that was not read: %+v", row.Interface())
		}
		byMap := map[string]any{"ref": "a", "title": "fourth"}
		err := n.db.Model(one.Addr().Interface()).Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "ref"}}, UpdateAll: true}).Create(byMap).Error
		if row := n.stored("a"); err != nil || number(row) != was["a"] || row.FieldByName("Title").String() != "fourth" {
			n.t.Errorf("a map: %+v, %v", row.Interface(), err)
		}
		asked := n.rows("fifth", "a")
		err = n.db.Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "ref"}}, DoUpdates: clause.AssignmentColumns([]string{"no"})}).Create(asked.Interface()).Error
		if row := n.stored("a"); err != nil || number(row) == was["a"] || slices.Contains([]string{"0", "<nil>"}, number(row)) {
			n.t.Errorf("the number that DoUpdates names: %+v, %v", row.Interface(), err)
		}
		n.same("DoUpdates of the number", asked)
	})
}

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

// onFresh gives a handle on tables of these models.
func onFresh(t *testing.T, models []any, test func(t *testing.T, db *gorm.DB)) {
	onEvery(t, func(t *testing.T, d database) {
		gen, err := core.New(core.Config{Worker: core.Fixed(1)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = gen.Close() })
		db := fillHandle(t, d, fillPlugin(t, gen))
		for _, model := range models {
			if err := db.Migrator().DropTable(model); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.AutoMigrate(models...); err != nil {
			t.Fatal(err)
		}
		test(t, db)
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

// A number that several rows have does not tell which of them a struct is.
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
	onFresh(t, []any{&Badge{}, &Licence{}}, func(t *testing.T, db *gorm.DB) {
		n := 16000 // of four columns
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
			var row Badge
			if err := c.update(db).Error; err != nil {
				t.Errorf("%s: %v", c.name, err)
			} else if err := db.Take(&row, b.ID).Error; err != nil || row.No != c.number {
				t.Errorf("%s: %+v, %v, want the number %d", c.name, row, err, c.number)
			}
		}
		fresh := Badge{ID: 99, Ref: "fresh"}
		if err := db.Save(&fresh).Error; err != nil || fresh.No == 0 {
			t.Errorf("Save of a new row under a key: %+v, %v", fresh, err)
		}
	})
}
