package gormplugin_test

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type (
	Number   int64
	Valued   int64 // with methods of its own
	Unsigned uint64
	Word     string
)

func (v Valued) Value() (driver.Value, error) { return int64(v), nil }

type (
	Deep   struct{ *Middle }
	Middle struct {
		Inner *Inner `gorm:"embedded"`
	}
	Inner struct {
		ID sqltype.ID `gorm:"primaryKey"`
	}
	// Outer hides the key of what it embeds.
	Outer struct {
		Tagged
		ID sqltype.ID
	}
	Tagged struct {
		ID int64 `gorm:"primaryKey;autoIncrement:false;snowflake"`
	}
)

// keyed returns a pointer to a struct whose only field is ID, of type T, with this gorm tag.
func keyed[T any](tag string, value ...T) any {
	field := reflect.StructField{Name: "ID", Type: reflect.TypeFor[T](), Tag: reflect.StructTag(fmt.Sprintf("gorm:%q", tag))}
	row := reflect.New(reflect.StructOf([]reflect.StructField{field}))
	if len(value) > 0 {
		row.Elem().Field(0).Set(reflect.ValueOf(value[0]))
	}
	return row.Interface()
}

// Each kind of field is filled if it is zero, and is stored as the struct has it.
func TestKinds(t *testing.T) {
	const number, text, null = "primaryKey;autoIncrement:false;snowflake", "primaryKey;snowflake", "primaryKey;snowflake"
	zero, seventy, word, empty := int64(0), int64(70), "kept", ""
	for i, c := range []struct {
		value any
		want  string // of all fields
	}{
		{keyed[Number](number), "{1}"},
		{keyed[Valued](number), "{1}"},
		{keyed[Unsigned](number), "{1}"},
		{keyed[int](number), "{1}"},
		{keyed[uint](number), "{1}"},
		{keyed[int64](number, -5), "{-5}"},
		{keyed[*int64](number), "{1}"},
		{keyed(number, &zero), "{1}"},
		{keyed(number, &seventy), "{70}"},
		{keyed[*uint64](number), "{1}"},
		{keyed[int64](number + ";default:5"), "{1}"},
		{keyed[string](text), "{1}"},
		{keyed[string](text + ":decimal"), "{1}"},
		{keyed(text, "0"), "{0}"},
		{keyed[string](text + ":base62;size:11"), "{00000000001}"},
		{keyed[Word](text + ":orders,base62"), "{000000000G9}"},
		{keyed[Word](text + ": base62 , orders "), "{000000000G9}"},
		{keyed[*string](text + ":orders"), "{1001}"},
		{keyed(text, &empty), "{1}"},
		{keyed(text, &word), "{kept}"},
		{keyed[sqltype.NullID](null), "{1}"},
		{keyed(null, sqltype.NullID{Valid: true}), "{1}"},
		{keyed(null, sqltype.NullID{ID: 7, Valid: true}), "{7}"},
		{keyed[sqltype.NullID](""), "{1}"},
		{keyed[sqltype.ID]("primaryKey;default:7"), "{1}"},
		{keyed[sqltype.ID]("snowflake:-", 9), "{9}"},
		{keyed[sqltype.Key[Order]](""), "{1}"},
		{keyed[sqltype.Key[Order]]("", 70), "{70}"},
		{keyed[*sqltype.Key[Order]](""), "{1}"},
		{keyed[sqltype.Key[Ticket]]("snowflake:orders"), "{ticket_00000000000z9}"},
		{keyed[sqltype.NullKey[Ticket]](""), "{ticket_0000000000001}"},
		{keyed(null, sqltype.NullKey[Order]{Valid: true}), "{1}"},
		{keyed(null, sqltype.NullKey[Order]{Key: 7, Valid: true}), "{7}"},
		{&Ticket{}, "{ticket_0000000000001}"},
		{&Outer{}, "{{0} 1}"},
		{&Deep{}, "{{{1}}}"},
		{&Deep{&Middle{}}, "{{{1}}}"},
		{&Deep{&Middle{&Inner{77}}}, "{{{77}}}"},
		{&struct {
			ID     uint
			Public *sqltype.NullID          `gorm:"snowflake"`
			Typed  *sqltype.NullKey[Ticket] `gorm:"snowflake"`
			Other  sqltype.ID
		}{}, "{1 1 ticket_0000000000002 0}"},
		{&struct {
			A sqltype.ID `gorm:"primaryKey;snowflake:orders"`
			B sqltype.ID `gorm:"primaryKey;snowflake"`
			C sqltype.ID `gorm:"primaryKey"`
			D int64      `gorm:"snowflake"`
			E string     `gorm:"snowflake:orders"`
		}{C: 9}, "{1001 1 9 2 1002}"},
		{&struct {
			Key sqltype.ID `gorm:"primaryKey;snowflake;column:the_key"`
			ID  sqltype.ID
		}{}, "{1 0}"},
	} {
		t.Run(fmt.Sprintf("%d %T", i, c.value), func(t *testing.T) {
			db, _ := open(t)
			must(t, errors.Join(db.Table("things").AutoMigrate(c.value), db.Table("things").Create(c.value).Error))
			back := reflect.New(reflect.TypeOf(c.value).Elem()).Interface()
			if err := db.Table("things").Take(back).Error; err != nil || fieldsOf(c.value) != c.want || fieldsOf(back) != c.want {
				t.Errorf("%s is stored as %s, want %s, %v", fieldsOf(c.value), fieldsOf(back), c.want, err)
			}
		})
	}
	if zero != 0 || empty != "" {
		t.Error("what a pointer pointed to was changed")
	}
}

// fieldsOf returns the values of a struct's fields, pointers followed.
func fieldsOf(value any) string {
	v := reflect.Indirect(reflect.ValueOf(value))
	texts := make([]string, v.NumField())
	for i := range texts {
		f := reflect.Indirect(v.Field(i))
		if _, prints := f.Interface().(fmt.Stringer); f.Kind() == reflect.Struct && !prints {
			texts[i] = fieldsOf(f.Interface())
		} else {
			texts[i] = fmt.Sprint(f)
		}
	}
	return "{" + strings.Join(texts, " ") + "}"
}
