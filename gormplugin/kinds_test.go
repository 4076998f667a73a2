package gormplugin_test

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/seed-299c1d6b/snowkey/gormplugin"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/gormtest"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type (
	Number   int64
	Valued   int64 // with methods of its own
	Unsigned uint64
	Word     string
)

func (v Valued) Value() (driver.Value, error) { return int64(v), nil }

type Deep struct{ *Middle }

type Middle struct {
	Inner *Inner `gorm:"embedded"`
}

type Inner struct {
	ID sqltype.ID `gorm:"primaryKey"`
}

type Tagged struct {
	ID int64 `gorm:"primaryKey;autoIncrement:false;snowflake"`
}

// Ticket has keys with a prefix.
type Ticket struct{ ID sqltype.Key[Ticket] }

func (*Ticket) KeyForm() sqltype.Form { return sqltype.Form{Prefix: "ticket"} }

// Outer hides the key of what it embeds.
type Outer struct {
	Tagged
	ID sqltype.ID
}

// Each kind of field, zero and set. What is wanted of a set one is what it was.
func TestKinds(t *testing.T) {
	zero, seventy := int64(0), int64(70)
	text, empty := "kept", ""
	for _, c := range []struct {
		value any
		want  string // of all fields, in JSON-like Go syntax
	}{
		{&struct {
			ID Number `gorm:"primaryKey;autoIncrement:false;snowflake"`
		}{}, "{1}"},
		{&struct {
			ID Valued `gorm:"primaryKey;autoIncrement:false;snowflake"`
		}{}, "{1}"},
		{&struct {
			ID Unsigned `gorm:"primaryKey;autoIncrement:false;snowflake"`
		}{}, "{1}"},
		{&struct {
			ID Unsigned `gorm:"primaryKey;autoIncrement:false;snowflake"`
		}{1 << 63}, "{9223372036854775808}"},
		{&struct {
			ID int `gorm:"primaryKey;autoIncrement:false;snowflake"`
		}{}, "{1}"},
		{&struct {
			ID uint `gorm:"primaryKey;autoIncrement:false;snowflake"`
		}{}, "{1}"},
		{&struct {
			ID int64 `gorm:"primaryKey;autoIncrement:false;snowflake"`
		}{-5}, "{-5}"},
		{&struct {
			ID *int64 `gorm:"primaryKey;autoIncrement:false;snowflake"`
		}{}, "{1}"},
		{&struct {
			ID *int64 `gorm:"primaryKey;autoIncrement:false;snowflake"`
		}{&zero}, "{1}"},
		{&struct {
			ID *int64 `gorm:"primaryKey;autoIncrement:false;snowflake"`
		}{&seventy}, "{70}"},
		{&struct {
			ID *uint64 `gorm:"primaryKey;autoIncrement:false;snowflake"`
		}{}, "{1}"},
		{&struct {
			ID string `gorm:"primaryKey;snowflake"`
		}{}, "{1}"},
		{&struct {
			ID string `gorm:"primaryKey;snowflake:decimal"`
		}{}, "{1}"},
		{&struct {
			ID string `gorm:"primaryKey;snowflake"`
		}{"0"}, "{0}"},
		{&struct {
			ID string `gorm:"primaryKey;snowflake:base62;size:11"`
		}{}, "{00000000001}"},
		{&struct {
			ID Word `gorm:"primaryKey;snowflake:orders,base62"`
		}{}, "{000000000G9}"},
		{&struct {
			ID Word `gorm:"primaryKey;snowflake: base62 , orders "`
		}{}, "{000000000G9}"},
		{&struct {
			ID *string `gorm:"primaryKey;snowflake:orders"`
		}{}, "{1001}"},
		{&struct {
			ID *string `gorm:"primaryKey;snowflake"`
		}{&empty}, "{1}"},
		{&struct {
			ID *string `gorm:"primaryKey;snowflake"`
		}{&text}, "{kept}"},
		{&struct {
			ID sqltype.NullID `gorm:"primaryKey;snowflake"`
		}{}, "{1}"},
		{&struct {
			ID sqltype.NullID `gorm:"primaryKey;snowflake"`
		}{sqltype.NullID{Valid: true}}, "{1}"},
		{&struct {
			ID sqltype.NullID `gorm:"primaryKey;snowflake"`
		}{sqltype.NullID{ID: 7, Valid: true}}, "{7}"},
		{&struct {
			ID     uint
			Public *sqltype.NullID `gorm:"snowflake"`
		}{}, "{0 1}"},
		{&struct {
			ID sqltype.Key[Order]
		}{}, "{1}"},
		{&struct {
			ID sqltype.Key[Order]
		}{70}, "{70}"},
		{&struct {
			ID *sqltype.Key[Order]
		}{}, "{1}"},
		{&Ticket{}, "{ticket_0000000000001}"},
		{&struct {
			ID sqltype.Key[Ticket] `gorm:"primaryKey;snowflake:orders"`
		}{}, "{ticket_00000000000z9}"},
		{&struct {
			ID sqltype.NullKey[Ticket] `gorm:"primaryKey;snowflake"`
		}{}, "{ticket_0000000000001}"},
		{&struct {
			ID sqltype.NullKey[Order] `gorm:"primaryKey;snowflake"`
		}{sqltype.NullKey[Order]{Valid: true}}, "{1}"},
		{&struct {
			ID sqltype.NullKey[Order] `gorm:"primaryKey;snowflake"`
		}{sqltype.NullKey[Order]{Key: 7, Valid: true}}, "{7}"},
		{&struct {
			ID     sqltype.Key[Order]       `gorm:"snowflake:-"`
			Public *sqltype.NullKey[Ticket] `gorm:"snowflake"`
			Other  sqltype.Key[Order]
		}{}, "{0 ticket_0000000000001 0}"},
		{&struct {
			ID     sqltype.ID
			Public sqltype.NullID `gorm:"snowflake"`
			Other  sqltype.ID
		}{}, "{1 2 0}"},
		{&struct {
			A sqltype.ID `gorm:"primaryKey;snowflake:orders"`
			B sqltype.ID `gorm:"primaryKey;snowflake"`
			C sqltype.ID `gorm:"primaryKey"`
			D int64      `gorm:"snowflake"`
			E string     `gorm:"snowflake:orders"`
		}{C: 9}, "{1001 1 9 2 1002}"},
		{&struct {
			ID sqltype.ID `gorm:"snowflake:-"`
		}{}, "{0}"},
		{&struct {
			ID sqltype.ID `gorm:"primaryKey;default:gen_id()"`
		}{}, "{1}"},
		{&struct {
			ID int64 `gorm:"primaryKey;autoIncrement:false;snowflake;default:5"`
		}{}, "{1}"},
		{&struct {
			Key sqltype.ID `gorm:"primaryKey;column:the_key"`
			ID  sqltype.ID
		}{}, "{1 0}"},
	} {
		t.Run(fmt.Sprintf("%T", c.value), func(t *testing.T) {
			db := gormtest.Dry(t, gormplugin.Config{Source: &gormtest.Counter{}, Named: map[string]sqltype.Source{"orders": &gormtest.Counter{Last: 1000}}})
			if err := db.Table("things").Create(c.value).Error; err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range fieldsOf(c.value) {
				got = append(got, fmt.Sprint(f))
			}
			if all := "{" + strings.Join(got, " ") + "}"; all != c.want {
				t.Errorf("%s, want %s", all, c.want)
			}
		})
	}
	if zero != 0 || empty != "" {
		t.Error("what a pointer pointed to was changed")
	}
}

// fieldsOf are the values of a struct's fields, pointers followed.
func fieldsOf(value any) (fields []any) {
	v := reflect.ValueOf(value).Elem()
	for i := range v.NumField() {
		f := v.Field(i)
		for f.Kind() == reflect.Pointer {
			f = f.Elem()
		}
		fields = append(fields, f.Interface())
	}
	return fields
}

func TestNestedEmbeddedPointers(t *testing.T) {
	db := gormtest.Dry(t, gormplugin.Config{Source: &gormtest.Counter{}})
	rows := []Deep{{}, {&Middle{}}, {&Middle{&Inner{}}}, {&Middle{&Inner{77}}}}
	if err := db.Create(&rows).Error; err != nil {
		t.Fatal(err)
	}
	for i, want := range []sqltype.ID{1, 2, 3, 77} {
		if got := rows[i].Inner.ID; got != want {
			t.Errorf("row %d has the key %d, want %d", i, got, want)
		}
	}
}

func TestShadowedKeyIsNoColumn(t *testing.T) {
	src := &gormtest.Counter{}
	db := gormtest.Dry(t, gormplugin.Config{Source: src})
	o := Outer{}
	if err := db.Create(&o).Error; err != nil || o.ID != 1 || o.Tagged.ID != 0 || src.Last != 1 {
		t.Errorf("%+v after %d ids, %v", o, src.Last, err)
	}
}

// Rows that share the variable their keys point to, or are one struct.
func TestSharedPointers(t *testing.T) {
	db := gormtest.Dry(t, gormplugin.Config{Source: &gormtest.Counter{}})
	var key sqltype.ID
	rows := []PointerKey{{&key}, {&key}, {&key}}
	if err := db.Create(&rows).Error; err != nil {
		t.Fatal(err)
	}
	if *rows[0].ID != 1 || *rows[1].ID != 2 || *rows[2].ID != 3 || key != 0 {
		t.Errorf("keys %d %d %d, and the variable is %d", *rows[0].ID, *rows[1].ID, *rows[2].ID, key)
	}
	one, two := &Order{}, &Order{}
	same := []*Order{one, two, one}
	tx := db.Create(same)
	if !errors.Is(tx.Error, gorm.ErrInvalidData) || !strings.Contains(tx.Error.Error(), "row 2 is the same struct as row 0") || tx.Statement.SQL.Len() > 0 {
		t.Errorf("%v", tx.Error)
	}
	one.ID, two.ID = 0, 0
	// As gorm does where the keys are set.
	tx = db.Clauses(clause.OnConflict{UpdateAll: true}).Create(same)
	if sql := tx.Statement.SQL.String(); tx.Error != nil || strings.Count(sql, "(?,?)") != 2 || one.ID == two.ID || one.ID*two.ID == 0 || len(same) != 3 {
		t.Errorf("%s, %v", sql, tx.Error)
	}
	m := map[string]any{"name": "m"}
	if err := db.Model(&Order{}).Create([]map[string]any{m, m}).Error; err == nil || !strings.Contains(err.Error(), "one map is given as more than one row") {
		t.Errorf("%v", err)
	}
	base := &Base{}
	shared := []ByPointer{{base}, {base}}
	for _, tx := range []*gorm.DB{db, db.Clauses(clause.OnConflict{DoNothing: true})} {
		base.ID = 0
		if err := tx.Create(&shared).Error; err == nil || !strings.Contains(err.Error(), "share the embedded struct") {
			t.Errorf("%v", err)
		}
	}
}

// Elsewhere is in another schema of the database.
type Elsewhere struct{ ID sqltype.ID }

func (Elsewhere) TableName() string { return "shop.elsewhere" }

// A column that is named in Tables is filled as if it were tagged, and the source
// of a tag comes before that of the table.
func TestTablesHoldForModels(t *testing.T) {
	type Plain struct {
		ID   int64 `gorm:"primaryKey;autoIncrement:false"`
		Code string
	}
	src, other, third := &gormtest.Counter{}, &gormtest.Counter{Last: 1000}, &gormtest.Counter{Last: 2000}
	db := gormtest.Dry(t, gormplugin.Config{
		Source: src,
		Named:  map[string]sqltype.Source{"other": other, "orders": third},
		Tables: map[string]gormplugin.Table{
			"plains":     {Column: "ID", Source: "other"},
			"orders":     {Column: "id", Source: "other"},
			"elsewhere":  {Column: "id", Source: "other"},
			"named_keys": {Column: "id", Source: "other"},
			"codes":      {Column: "code", Text: "base62"},
			"texts":      {Column: "code", Text: "decimal"},
		},
	})
	plain, o, named, far := Plain{}, Order{}, NamedKey{}, Elsewhere{}
	for _, value := range []any{&plain, &o, &named, &far} {
		if err := db.Create(value).Error; err != nil {
			t.Fatal(err)
		}
	}
	if plain.ID != 1001 || o.ID != 1002 || named.ID != 2001 || far.ID != 1003 || src.Last != 0 {
		t.Errorf("%+v %+v %+v", plain, o, named)
	}
	code, text := map[string]any{}, map[string]any{"CODE": ""}
	if err := db.Table("shop.codes").Create(code).Error; err != nil || code["code"] != "00000000001" {
		t.Errorf("%v, %v", code, err)
	}
	if err := db.Table("texts").Create(text).Error; err != nil || text["code"] != "2" || len(text) != 1 {
		t.Errorf("%v, %v", text, err)
	}
}

// One create asks each source once, whatever it fills, and where a source fails no
// row has been given anything.
func TestOneReservationForAllColumns(t *testing.T) {
	type Two struct {
		ID     sqltype.ID
		Number int64 `gorm:"snowflake"`
		Other  int64 `gorm:"snowflake:other"`
	}
	src, other := &gormtest.Counter{}, &gormtest.Counter{}
	db := gormtest.Dry(t, gormplugin.Config{Source: src, Named: map[string]sqltype.Source{"other": other}})
	rows := make([]Two, 10)
	rows[3] = Two{ID: 77, Number: 78}
	if err := db.Create(&rows).Error; err != nil || src.Calls != 1 || src.Last != 18 || other.Calls != 1 || other.Last != 10 {
		t.Errorf("%d calls for %d ids, %d for %d, %v", src.Calls, src.Last, other.Calls, other.Last, err)
	}
	seen := map[int64]bool{}
	for i, r := range rows {
		if seen[r.ID.Int64()] || seen[r.Number] || r.ID == 0 || r.Number == 0 || r.Other != int64(i+1) {
			t.Errorf("row %d is %+v", i, r)
		}
		seen[r.ID.Int64()], seen[r.Number] = true, true
	}
	other.Err = fmt.Errorf("no more")
	rows = make([]Two, 2)
	if err := db.Create(&rows).Error; err == nil || rows[0] != (Two{}) || rows[1] != (Two{}) {
		t.Errorf("%+v, %v", rows, err)
	}
}

// What a tag can say wrongly, and where it can stand in vain.
func TestTagFaults(t *testing.T) {
	type Embedded struct {
		Tagged `gorm:"snowflake"`
	}
	type OnlyOuter struct {
		Base `gorm:"snowflake"`
	}
	type OnRelation struct {
		ID      sqltype.ID
		OrderID sqltype.ID
		Order   *Order `gorm:"snowflake"`
	}
	db := gormtest.Dry(t, gormplugin.Config{Source: &gormtest.Counter{}, Named: map[string]sqltype.Source{"a": &gormtest.Counter{}}})
	for _, c := range []struct {
		model any
		want  string
	}{
		{&struct {
			ID int64 `gorm:"primaryKey;autoIncrement:false;snowflake:a,b"`
		}{}, `ID: the tag snowflake:a,b names two sources, "a" and "b"`},
		{&struct {
			ID int64 `gorm:"primaryKey;autoIncrement:false;snowflake:base62"`
		}{}, "ID: base62 is a form of strings, and its type is int64"},
		{&struct {
			ID string `gorm:"primaryKey;snowflake:base62;size:10"`
		}{}, "ID: size:10 is too short for a key of 11 characters"},
		{&struct {
			ID string `gorm:"primaryKey;snowflake;size:18"`
		}{}, "ID: size:18 is too short for a key of 19 characters"},
		{&struct {
			ID int64 `gorm:"primaryKey;autoIncrement:false;snowflake:nobody"`
		}{}, `ID: source "nobody" is not in Config.Named, which has ["a"]`},
		{&struct {
			ID []byte `gorm:"primaryKey;snowflake"`
		}{}, "ID: the type []uint8 cannot hold a key"},
		{&struct {
			ID int64 `gorm:"primaryKey;autoIncrement:false;snowflake;size:32"`
		}{}, "ID: size:32 is too small for a key of 63 bits"},
		{&struct {
			ID int64 `gorm:"primaryKey;autoIncrement:false;snowflake;serializer:json"`
		}{}, "ID: a serializer would write the key in another form"},
		{&struct {
			ID int64 `gorm:"primaryKey;autoIncrement:false;snowflke"`
		}{}, `ID: the gorm tag "primaryKey;autoIncrement:false;snowflke" says snowflke: write snowflake`},
		{&struct {
			ID sqltype.ID `gorm:"snowflake=a"`
		}{}, "says snowflake=a: write snowflake, or snowflake:name"},
		{&struct {
			ID int64 `gorm:"primaryKey" snowflake:"a"`
		}{}, "ID: the tag snowflake is beside the gorm tag: write `gorm:\"primaryKey;snowflake\"`"},
		{&struct {
			ID sqltype.ID `gorm:"->"`
		}{}, `ID: the tag "->" keeps it out of what is created; if the database sets it, say snowflake:-`},
		{&struct {
			ID sqltype.ID `gorm:"autoIncrement"`
		}{}, `ID: the gorm tag "autoIncrement" makes it auto-increment: say autoIncrement:false`},
		{&struct {
			ID sqltype.ID `gorm:"type:BIGSERIAL"`
		}{}, `ID: the type in its gorm tag "type:BIGSERIAL" gives keys of its own`},
		{&OnlyOuter{}, "OnlyOuter.ID: the tag snowflake is on the field that embeds it"},
		{&OnRelation{}, "OnRelation.Order: the tag snowflake is on a field of type *gormtest.Order, which is no column"},
	} {
		err := gormplugin.Validate(db.Table("things"), c.model)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%T: %v, want %q", c.model, err, c.want)
		}
		if strings.Contains(c.want, "auto") || strings.Contains(c.want, "BIGSERIAL") {
			continue // these can be filled all the same
		}
		if tx := db.Table("things").Create(c.model); tx.Error == nil || !strings.Contains(tx.Error.Error(), c.want) || tx.Statement.SQL.Len() > 0 {
			t.Errorf("%T: create gave %v", c.model, tx.Error)
		}
	}
	if err := gormplugin.Validate(db, &Embedded{}); err != nil { // tagged twice, and rightly the second time
		t.Error(err)
	}
}
