package gormplugin_test

import (
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/seed-299c1d6b/snowkey/internal/databases"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Each has a public number that is filled, next to a key that is filled, or that the database makes.
type (
	Medal struct {
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
	Printed struct {
		ID    sqltype.ID
		No    PrintedNo `gorm:"type:varchar(30);uniqueIndex;snowflake"`
		Ref   string    `gorm:"size:20;uniqueIndex"`
		Title string    `gorm:"size:20"`
	}
)

// PrintedNo is an integer in Go and a string in the database.
type PrintedNo int64

func (n PrintedNo) Value() (driver.Value, error) { return fmt.Sprintf("K-%d", int64(n)), nil }

func (n *PrintedNo) Scan(v any) error {
	_, err := fmt.Sscanf(fmt.Sprintf("%s", v), "K-%d", (*int64)(n))
	return err
}

// numbered is a list of rows of one of these models, known by their Ref.
type numbered struct{ list reflect.Value }

func numberedOf(model reflect.Type, title string, refs ...string) numbered {
	list := reflect.New(reflect.SliceOf(model))
	for _, ref := range refs {
		row := reflect.New(model).Elem()
		row.FieldByName("Ref").SetString(ref)
		row.FieldByName("Title").SetString(title)
		list.Elem().Set(reflect.Append(list.Elem(), row))
	}
	return numbered{list}
}

func (n numbered) row(i int) reflect.Value { return n.list.Elem().Index(i) }

// stored reads a row again.
func (n numbered) stored(t *testing.T, db *gorm.DB, i int) reflect.Value {
	t.Helper()
	row := reflect.New(n.row(i).Type())
	must(t, db.Where("ref = ?", n.row(i).FieldByName("Ref").String()).Take(row.Interface()).Error)
	return row.Elem()
}

// identity returns a row's key and number.
func identity(t *testing.T, row reflect.Value) string {
	t.Helper()
	text, err := json.Marshal([]any{row.FieldByName("ID").Interface(), row.FieldByName("No").Interface()})
	if err != nil || strings.Contains(string(text), "null") || strings.Contains(","+string(text), ",0") {
		t.Errorf("%s, %v", text, err)
	}
	return string(text)
}

// onFresh runs a test on new tables of these models.
func onFresh(t *testing.T, models []any, test func(t *testing.T, db *gorm.DB)) {
	onFreshDatabase(t, models, func(t *testing.T, _ databases.Database, db *gorm.DB) { test(t, db) })
}

func onFreshDatabase(t *testing.T, models []any, test func(t *testing.T, d databases.Database, db *gorm.DB)) {
	databases.OnEvery(t, func(t *testing.T, d databases.Database) {
		db := databases.Handle(t, d, fillPlugin(databases.Generator(t, 1)))
		must(t, db.AutoMigrate(models...))
		test(t, d, db)
	})
}

// After an upsert, an existing row has its key and its number as before, and the struct has them.
func TestUpsertKeepsIdentity(t *testing.T) {
	models := []any{&Medal{}, &Consignment{}, &Licence{}, &Printed{}}
	onFresh(t, models, func(t *testing.T, db *gorm.DB) {
		ways := map[string]clause.Expression{
			"DoNothing":        clause.OnConflict{DoNothing: true},
			"DoNothing by ref": clause.OnConflict{Columns: byRef, DoNothing: true},
			"DoUpdates":        clause.OnConflict{Columns: byRef, DoUpdates: clause.AssignmentColumns([]string{"title"})},
			"UpdateAll":        clause.OnConflict{Columns: byRef, UpdateAll: true},
		}
		switch db.Name() {
		case "mysql":
			ways["INSERT IGNORE"] = clause.Insert{Modifier: "IGNORE"}
		case "sqlite":
			ways["INSERT OR IGNORE"] = clause.Insert{Modifier: "OR IGNORE"}
		case "postgres":
			ways["DoUpdates by name"] = clause.OnConflict{DoUpdates: clause.AssignmentColumns([]string{"title"})}
		}
		for name, way := range ways {
			for _, model := range models {
				model := reflect.TypeOf(model).Elem()
				t.Run(name+" of "+model.Name(), func(t *testing.T) {
					if on, ok := way.(clause.OnConflict); ok && name == "DoUpdates by name" {
						table := db.NamingStrategy.TableName(model.Name())
						must(t, db.Exec("ALTER TABLE "+table+" ADD CONSTRAINT "+table+"_ref UNIQUE (ref)").Error)
						on.OnConstraint = table + "_ref"
						way = on
					}
					there := numberedOf(model, "old", name+"a", name+"b")
					must(t, db.Create(there.list.Interface()).Error)
					list := numberedOf(model, "new", name+"x", name+"b", name+"y", name+"a")
					must(t, db.Clauses(way).Create(list.list.Interface()).Error)
					updates := strings.HasPrefix(name, "DoUpdates") || name == "UpdateAll"
					for i := range 4 {
						row := list.stored(t, db, i)
						if identity(t, row) != identity(t, list.row(i)) || (row.FieldByName("Title").String() == "new") != (updates || i%2 == 0) {
							t.Errorf("row %d: the struct is %+v, the row %+v", i, list.row(i), row)
						}
						if old := map[int]int{1: 1, 3: 0}; i%2 > 0 && identity(t, row) != identity(t, there.row(old[i])) {
							t.Errorf("row %d: %+v became %+v", i, there.row(old[i]), row)
						}
					}
				})
			}
		}
	})
}

// Letter refers to a medal by its number, not by its key.
type Letter struct {
	ID      sqltype.ID
	MedalNo int64
	Medal   *Medal `gorm:"foreignKey:MedalNo;references:No"`
}

// A foreign key follows the number, and the key, to the row that is there.
func TestLinksFollowTheRow(t *testing.T) {
	onFresh(t, []any{&Letter{}, &Medal{}}, func(t *testing.T, db *gorm.DB) {
		there := &Medal{Ref: "a"}
		must(t, db.Create(there).Error)
		for name, create := range map[string]func(any) *gorm.DB{"Create": db.Create, "Save": db.Save} {
			letters := []*Letter{{Medal: &Medal{Ref: "a"}}, {Medal: &Medal{Ref: "new with " + name}}}
			if err := create(letters).Error; err != nil || letters[0].MedalNo != there.No || letters[0].Medal.ID != there.ID {
				t.Errorf("%s: %+v, %+v, want %+v, %v", name, letters[0], letters[0].Medal, there, err)
			}
		}
		var dangling int64
		if err := db.Raw("SELECT COUNT(*) FROM letters WHERE medal_no NOT IN (SELECT no FROM medals)").Scan(&dangling).Error; err != nil || dangling > 0 {
			t.Errorf("%d letters of no medal, %v", dangling, err)
		}
	})
}

// The look-ups of a large list have no more parameters than a statement may have.
func TestUpsertLooksUpInChunks(t *testing.T) {
	onFreshDatabase(t, []any{&Medal{}}, func(t *testing.T, d databases.Database, db *gorm.DB) {
		n := d.Size(16000, 1000) // of four columns
		if d.Name == "sqlite" {
			n = 8000
		}
		ref := func(i int) string { return fmt.Sprint("ref ", i) }
		old := make([]Medal, 1000)
		for i := range old {
			old[i].Ref = ref(2 * i)
		}
		list := make([]Medal, n)
		for i := range list {
			list[i].Ref = ref(i)
		}
		if err := errors.Join(db.Create(&old).Error, db.Clauses(clause.OnConflict{Columns: byRef, UpdateAll: true}).Create(&list).Error); err != nil {
			t.Fatalf("%.200v", err)
		}
		for i := range min(len(old), n/2) {
			if list[2*i].ID != old[i].ID || list[2*i].No != old[i].No {
				t.Fatalf("%+v is %+v", list[2*i], old[i])
			}
		}
	})
}

// Rounded has unique values that databases round.
type Rounded struct {
	ID    sqltype.ID
	At    time.Time `gorm:"uniqueIndex"`
	Cents string    `gorm:"type:decimal(10,2);uniqueIndex"`
	Name  string    `gorm:"size:20"`
}

// A row that collides with another is found, or the upsert fails: its key is never another one,
// and never 0.
func TestUpsertOfRoundedValues(t *testing.T) {
	onFresh(t, []any{&Rounded{}}, func(t *testing.T, db *gorm.DB) {
		at := time.Date(2026, 5, 4, 3, 2, 1, 123456789, time.UTC)
		there := Rounded{At: at, Cents: "1.004"}
		must(t, db.Create(&there).Error)
		for what, on := range map[string]clause.OnConflict{
			"DoNothing": {DoNothing: true}, "UpdateAll": {Columns: []clause.Column{{Name: "at"}}, UpdateAll: true},
		} {
			for i, row := range []Rounded{{At: at, Cents: "2"}, {At: at.Add(time.Hour), Cents: "1.004"}} {
				if on.UpdateAll && i > 0 {
					continue // it does not collide in the index that is named
				}
				err := db.Clauses(on).Create(&row).Error
				if err == nil && row.ID == there.ID || err != nil && row.ID == 0 && strings.Contains(err.Error(), "such as times that it rounds") {
					continue
				}
				var n int64
				if db.Model(&Rounded{}).Where("id = ?", row.ID).Count(&n); err != nil || n != 1 { // SQLite rounds neither
					t.Errorf("%s: the struct has %d, the row %d: %v", what, row.ID, there.ID, err)
				}
			}
		}
	})
}

// Stall has at most one row without a note in each place, in PostgreSQL.
type Stall struct {
	ID    sqltype.ID
	Place string  `gorm:"size:20;uniqueIndex:stall,option:NULLS NOT DISTINCT"`
	Note  *string `gorm:"size:20;uniqueIndex:stall"`
}

func TestUpsertOfNullsNotDistinct(t *testing.T) {
	databases.OnEvery(t, func(t *testing.T, d databases.Database) {
		if d.Name != "postgres" {
			return // no other database has it
		}
		db := databases.Handle(t, d, fillPlugin(databases.Generator(t, 1)))
		var version int
		if err := db.Raw("SELECT current_setting('server_version_num')::int").Scan(&version).Error; err != nil || version < 150000 {
			t.Logf("version %d has no NULLS NOT DISTINCT, %v", version, err)
			return
		}
		there := Stall{Place: "a"}
		must(t, errors.Join(db.AutoMigrate(&Stall{}), db.Create(&there).Error))
		list, note := []Stall{{Place: "b"}, {Place: "a"}}, "note"
		if err := db.Clauses(clause.OnConflict{DoNothing: true}).Create(&list).Error; err != nil || list[1].ID != there.ID || list[0].ID == 0 {
			t.Errorf("%+v, want the key %d, %v", list, there.ID, err)
		}
		other := Stall{Place: "a", Note: &note}
		if err := db.Clauses(clause.OnConflict{DoNothing: true}).Create(&other).Error; err != nil || other.ID == there.ID {
			t.Errorf("%+v, %v", other, err)
		}
	})
}

// Prefix is unique in the first letters of a column, in MySQL and MariaDB.
type Prefix struct {
	ID   sqltype.ID
	Word string `gorm:"size:20;uniqueIndex:,length:2"`
}

func TestUpsertOfPrefix(t *testing.T) {
	onFresh(t, []any{&Prefix{}}, func(t *testing.T, db *gorm.DB) {
		if db.Name() != "mysql" {
			return // the others ignore the length
		}
		must(t, db.Create(&Prefix{Word: "apple"}).Error)
		err := db.Clauses(clause.OnConflict{DoNothing: true}).Create(&Prefix{Word: "apricot"}).Error
		if err == nil || !strings.Contains(err.Error(), "declare the unique index in the model, without length and expressions") {
			t.Error(err)
		}
	})
}
