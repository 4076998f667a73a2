package integration

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/gormplugin/graph"
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
		t.Cleanup(gen.Close)
		for _, model := range []any{&Badge{}, &Consignment{}, &Licence{}} {
			kind := reflect.TypeOf(model).Elem()
			t.Run(kind.Name(), func(t *testing.T) {
				db := fillHandle(t, d, fillPlugin(gen))
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

// An existing row keeps its number in an upsert, and the struct has it, with the row's key.
func TestUpsertKeepsTheNumber(t *testing.T) {
	onNumbers(t, func(n *numbered) {
		byRef := []clause.Column{{Name: "ref"}}
		inGraph := func(db *gorm.DB, list any) error { return graph.Create(n.t.Context(), db, list) }
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
			for how, create := range map[string]func(*gorm.DB, any) error{"Create": plain, "graph": inGraph} {
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

// Letter refers to a badge by its number, not by its key.
type Letter struct {
	ID      sqltype.ID
	BadgeNo int64
	Badge   *Badge `gorm:"foreignKey:BadgeNo;references:No"`
}

// A foreign key that refers to the number follows it to the row that is there.
func TestLinksFollowTheNumber(t *testing.T) {
	onEvery(t, func(t *testing.T, d database) {
		gen, err := core.New(core.Config{Worker: core.Fixed(1)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(gen.Close)
		db := fillHandle(t, d, fillPlugin(gen))
		for _, model := range []any{&Letter{}, &Badge{}} {
			if err := db.Migrator().DropTable(model); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.AutoMigrate(&Badge{}, &Letter{}); err != nil {
			t.Fatal(err)
		}
		there := &Badge{Ref: "a"}
		if err := db.Create(there).Error; err != nil {
			t.Fatal(err)
		}
		for name, create := range map[string]func(any) error{
			"Create": func(v any) error { return db.Create(v).Error },
			"Save":   func(v any) error { return db.Save(v).Error },
			"graph":  func(v any) error { return graph.Create(t.Context(), db, v) },
		} {
			t.Run(name, func(t *testing.T) {
				letters := []*Letter{{Badge: &Badge{Ref: "a"}}, {Badge: &Badge{Ref: "new with " + name}}}
				if err := create(letters); err != nil {
					t.Errorf("%s: %v", name, err)
					return
				}
				if letters[0].BadgeNo != there.No || letters[0].Badge.ID != there.ID {
					t.Errorf("%s: %+v, %+v, want %+v", name, letters[0], letters[0].Badge, there)
				}
			})
		}
		var dangling int64
		if err := db.Raw("SELECT COUNT(*) FROM letters WHERE badge_no NOT IN (SELECT no FROM badges)").Scan(&dangling).Error; err != nil || dangling > 0 {
			t.Errorf("%d letters of no badge, %v", dangling, err)
		}
	})
}
