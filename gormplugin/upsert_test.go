package gormplugin_test

import (
	"errors"
	"strings"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type (
	// Badge has a public number that is filled, next to its key.
	Badge struct {
		ID     sqltype.ID
		Number int64  `gorm:"uniqueIndex;snowflake"`
		Ref    string `gorm:"size:20;uniqueIndex"`
		Title  string
	}
	// Seat has unique columns of several kinds, and one index that ignores case.
	Seat struct {
		ID       sqltype.ID
		Row, No  int            `gorm:"uniqueIndex:place"`
		Code     *string        `gorm:"unique"`
		Word     *string        `gorm:"uniqueIndex:word,where:deleted_at IS NULL"`
		Name     *string        `gorm:"uniqueIndex:,collate:nocase"`
		Hidden   *string        // has an index that the model does not declare
		Low      *string        `gorm:"uniqueIndex:,expression:lower(low)"`
		Lower    *string        `gorm:"index:lower,class:unique"`
		Deleted  gorm.DeletedAt `gorm:"column:deleted_at"`
		Tickets  []SeatTicket
		SharedBy []Badge `gorm:"many2many:seat_badges"`
	}
	SeatTicket struct {
		ID     sqltype.ID
		SeatID sqltype.ID
	}
)

var byRef = []clause.Column{{Name: "ref"}}

// A number that was set does not identify the struct's row: another row may have it.
func TestUpsertWithSharedNumber(t *testing.T) {
	type Batch struct {
		ID     uint   `gorm:"snowflake:-"`
		Number int64  `gorm:"snowflake"`
		Ref    string `gorm:"uniqueIndex"`
	}
	db, _ := open(t, &Batch{})
	must(t, db.Create(&[]Batch{{Number: 7, Ref: "a"}, {Number: 7, Ref: "b"}, {Number: 8, Ref: "c"}}).Error)
	list := []Batch{{Number: 7, Ref: "b"}, {Number: 7, Ref: "new"}, {Ref: "filled"}, {Number: 8, Ref: "a"}}
	must(t, db.Clauses(clause.OnConflict{Columns: byRef, DoNothing: true}).Create(&list).Error)
	for _, b := range list {
		var row Batch
		if err := db.Take(&row, "ref = ?", b.Ref).Error; err != nil || row.ID != b.ID {
			t.Errorf("the struct is %+v, the row %+v, %v", b, row, err)
		}
	}
}

// A row that collides is found by each index that the model declares, and by any of a list.
func TestUpsertFinds(t *testing.T) {
	db, _ := open(t, &Seat{}, &SeatTicket{}, &Badge{})
	gone := Seat{Row: 9, Word: new("w")}
	there := Seat{Row: 1, No: 2, Code: new("c"), Word: new("w"), Name: new("n"), Lower: new("l")}
	must(t, errors.Join(db.Create(&gone).Error, db.Delete(&gone).Error, db.Create(&there).Error))
	word := clause.OnConflict{Columns: []clause.Column{{Name: "word"}}, TargetWhere: clause.Where{Exprs: []clause.Expression{clause.Expr{SQL: "deleted_at IS NULL"}}}, DoNothing: true}
	for name, c := range map[string]struct {
		on   clause.OnConflict
		seat Seat
	}{
		"a composite index":   {clause.OnConflict{DoNothing: true}, Seat{Row: 1, No: 2}},
		"a unique column":     {clause.OnConflict{DoNothing: true}, Seat{Row: 2, Code: new("c")}},
		"a partial index":     {clause.OnConflict{DoNothing: true}, Seat{Row: 3, Word: new("w")}},
		"class:unique":        {clause.OnConflict{DoNothing: true}, Seat{Row: 8, Lower: new("l")}},
		"a named partial one": {word, Seat{Row: 4, Word: new("w")}},
		"a set key":           {clause.OnConflict{Columns: []clause.Column{{Name: "code"}}, UpdateAll: true}, Seat{ID: 4711, Row: 5, Code: new("c"), Word: new("w"), Name: new("n"), Lower: new("l")}},
		"the key":             {clause.OnConflict{Columns: []clause.Column{clause.PrimaryColumn}, DoNothing: true}, Seat{ID: there.ID, Row: 6}},
		"the key by default":  {clause.OnConflict{UpdateAll: true}, Seat{ID: there.ID, Row: 7, Code: new("c"), Word: new("w"), Name: new("n"), Lower: new("l")}},
	} {
		list := []Seat{{Row: 100 + len(name), No: 1}, c.seat, {Row: 100 + len(name), No: 2}}
		list[1].Tickets = []SeatTicket{{}}
		if err := db.Clauses(c.on).Create(&list).Error; err != nil || list[1].ID != there.ID || list[1].Tickets[0].SeatID != there.ID || list[0].ID == there.ID {
			t.Errorf("%s: %d of %d, %v", name, list[1].ID, there.ID, err)
		}
		must(t, db.Exec("UPDATE seats SET row = 1, no = 2 WHERE id = ?", there.ID).Error)
	}
}

// An upsert that cannot say which row has which key fails, and the keys are zero again.
func TestUpsertRefuses(t *testing.T) {
	db, _ := open(t, &Seat{}, &SeatTicket{}, &Badge{})
	must(t, db.Exec("CREATE UNIQUE INDEX hidden ON seats (hidden)").Error)
	must(t, db.Create(&Seat{Row: 1, Name: new("n"), Hidden: new("h"), Low: new("l")}).Error)
	nothing := clause.OnConflict{DoNothing: true}
	for name, c := range map[string]struct {
		tx   *gorm.DB
		rows any
		want string
	}{
		"an index that is not declared": {db.Clauses(nothing), &Seat{Row: 2, Hidden: new("h")}, "row 0 was not written, and the row that it collided with is not found by "},
		"an index of an expression":     {db.Clauses(nothing), &[]Seat{{Row: 3}, {Row: 4, Low: new("L")}}, "row 1 was not written"},
		"a column that ignores case":    {db.Clauses(nothing), &[]*Seat{{Row: 5, Name: new("N")}}, "row 0 was not written"},
		"an association":                {db, &SeatOwner{Seat: &Seat{Row: 8, Hidden: new("h")}}, "row 0 was not written"},
	} {
		if owner, ok := c.rows.(*SeatOwner); ok {
			must(t, db.AutoMigrate(owner))
		}
		err := c.tx.Create(c.rows).Error
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		for _, key := range keysOf(c.rows) {
			if key != 0 {
				t.Errorf("%s: the key %d is left", name, key)
			}
		}
		idle(t, db)
	}
	if n := len(stored(t, db, "seats", "id")) + len(stored(t, db, "badges", "id")); n != 1 {
		t.Errorf("%d rows", n)
	}
	if err := db.Clauses(nothing).Model(&Badge{}).Create([]map[string]any{{"ref": "one"}, {"ref": "one"}}).Error; err != nil {
		t.Errorf("maps are not looked up: %v", err)
	}
}

// SeatOwner belongs to a seat.
type SeatOwner struct {
	ID     sqltype.ID
	SeatID sqltype.ID
	Seat   *Seat
}

// An existing row keeps its number in Save and UpdateAll. A number that was set, or that
// DoUpdates names, is written.
func TestUpsertKeepsNumbers(t *testing.T) {
	db, _ := open(t, &Badge{})
	there := []Badge{{Ref: "a"}, {Ref: "b"}, {Ref: "c"}}
	must(t, db.Create(&there).Error)
	number := func(ref string) (n int64) {
		db.Model(&Badge{}).Where("ref = ?", ref).Pluck("number", &n)
		return n
	}
	saved := []Badge{{ID: there[0].ID, Ref: "a", Title: "saved"}, {Ref: "new"}}
	if err := db.Save(&saved).Error; err != nil || number("a") != there[0].Number || saved[0].Number != there[0].Number || saved[1].Number != number("new") {
		t.Errorf("Save: %+v, %v", saved, err)
	}
	set := Badge{Ref: "b", Number: 4711}
	if err := db.Clauses(clause.OnConflict{Columns: byRef, UpdateAll: true}).Create(&set).Error; err != nil || number("b") != 4711 || set.ID != there[1].ID {
		t.Errorf("a number that is set: %+v, %v", set, err)
	}
	asked := Badge{Ref: "c"}
	if err := db.Clauses(clause.OnConflict{Columns: byRef, DoUpdates: clause.AssignmentColumns([]string{"number"})}).Create(&asked).Error; err != nil || number("c") == there[2].Number || asked.Number != number("c") {
		t.Errorf("DoUpdates of the number: %+v, %v", asked, err)
	}
	some := []Badge{{Ref: "a"}, {Ref: "b", Number: 815}, {Ref: "e"}}
	if err := db.Clauses(clause.OnConflict{Columns: byRef, UpdateAll: true}).Create(&some).Error; err != nil || number("a") != there[0].Number || number("b") != 815 || some[0].Number != number("a") || some[2].Number != number("e") {
		t.Errorf("numbers of some rows: %+v, %v", some, err)
	}
	mapped := map[string]any{"ref": "a", "title": "map"}
	if err := db.Model(&Badge{}).Clauses(clause.OnConflict{Columns: byRef, UpdateAll: true}).Create(mapped).Error; err != nil || number("a") != there[0].Number {
		t.Errorf("a map: %d, want %d, %v", number("a"), there[0].Number, err)
	}
}

// A row whose key is set, and whose unique value is another row's, is skipped as in gorm if no row of
// the create refers to it.
func TestUpsertWithoutChildren(t *testing.T) {
	type Leaf struct {
		ID       sqltype.ID
		BranchID sqltype.ID
	}
	type Branch struct {
		ID     sqltype.ID
		Name   string `gorm:"uniqueIndex"`
		Leaves []Leaf
	}
	db, _ := open(t, &Branch{}, &Leaf{})
	must(t, db.Create(&Branch{Name: "o"}).Error)
	tx := db.Clauses(clause.OnConflict{DoNothing: true}).Session(&gorm.Session{})
	with := func() *Branch { return &Branch{ID: 50, Name: "o", Leaves: []Leaf{{}}} }
	for what, err := range map[string]error{
		"Omit of all":  tx.Omit(clause.Associations).Create(with()).Error,
		"Omit":         tx.Omit("Leaves").Create(with()).Error,
		"Select":       tx.Select("ID", "Name").Create(with()).Error,
		"an empty one": tx.Create(&Branch{ID: 50, Name: "o", Leaves: []Leaf{}}).Error,
	} {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := tx.Create(with()).Error; err == nil || len(stored(t, db, "leafs", "id"))+len(stored(t, db, "branches", "id")) != 1 {
		t.Error("leaves of no branch", err)
	}
}
