package gormplugin

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"

	"gorm.io/gorm/schema"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// kind is how an id stands in a field of Go.
type kind uint8

const (
	_        kind = iota // a field that is looked at and never set
	signed               // sqltype.ID, int64 and types over it
	unsigned             // uint64 and types over it
	decimal              // string and types over it
	base62
	nullable // sqltype.NullID
)

const base62Digits = 11 // of sqltype.ID.Base62

var (
	idType   = reflect.TypeFor[sqltype.ID]()
	nullType = reflect.TypeFor[sqltype.NullID]()
)

// kindOf says how the field holds an id, or why it cannot.
func kindOf(f *schema.Field, o order) (kind, error) {
	t := f.FieldType
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	var k kind
	switch t.Kind() {
	case reflect.Int64:
		k = signed
	case reflect.Uint64:
		k = unsigned
	case reflect.Int:
		k = signed
	case reflect.Uint:
		k = unsigned
	case reflect.String:
		k = decimal
	case reflect.Struct:
		if t == nullType {
			k = nullable
		}
	}
	if k == 0 || k <= unsigned && t.Bits() < 64 {
		return 0, fmt.Errorf("the type %v cannot hold a key of 63 bits: use sqltype.ID, int64, uint64 or string", f.FieldType)
	}
	if o.base62 {
		if k != decimal {
			return 0, fmt.Errorf("base62 is a form of strings, and its type is %v", f.FieldType)
		}
		k = base62
	}
	switch need := k.digits(); {
	case f.Size > 0 && f.Size < need:
		return 0, fmt.Errorf("size:%d is too short for a key of %d characters", f.Size, need)
	case need == 0 && f.Size < 64 && (f.DataType == schema.Int || f.DataType == schema.Uint):
		return 0, fmt.Errorf("size:%d is too small for a key of 63 bits: say size:64, or nothing", f.Size)
	case f.Serializer != nil:
		return 0, errors.New("a serializer would write the key in another form: take it out of the gorm tag")
	}
	if !f.Creatable {
		return 0, fmt.Errorf("the tag %q keeps it out of what is created; if the database sets it, say snowflake:-", f.Tag.Get("gorm"))
	}
	return k, nil
}

// digits is the length of the longest key, where it is text.
func (k kind) digits() int {
	switch k {
	case decimal:
		return 19
	case base62:
		return base62Digits
	}
	return 0
}

// isZero reports whether v holds no id.
func (k kind) isZero(v reflect.Value) bool {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return true
		}
		v = v.Elem()
	}
	switch k {
	case signed:
		return v.Int() == 0
	case unsigned:
		return v.Uint() == 0
	case nullable:
		return v.Field(0).Int() == 0 || !v.Field(1).Bool()
	}
	return v.IsZero()
}

// set puts the id into v. A pointer is replaced and not written through: two
// rows may share what it points to, and must not share their key.
func (k kind) set(v reflect.Value, id int64) {
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	switch k {
	case signed:
		v.SetInt(id)
	case unsigned:
		v.SetUint(uint64(id))
	case nullable:
		v.Set(reflect.ValueOf(sqltype.NullID{ID: sqltype.ID(id), Valid: true}))
	default:
		v.SetString(k.text(id))
	}
}

func (k kind) text(id int64) string {
	if k == base62 {
		return sqltype.ID(id).Base62()
	}
	return strconv.FormatInt(id, 10)
}

// value is the id as a map holds it for a field of type t.
func (k kind) value(t reflect.Type, id int64) any {
	v := reflect.New(t).Elem()
	k.set(v, id)
	return v.Interface()
}
