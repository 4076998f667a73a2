package rows

import (
	"database/sql/driver"
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

var (
	idType   = reflect.TypeFor[sqltype.ID]()
	nullType = reflect.TypeFor[sqltype.NullID]()
	keyType  = reflect.TypeFor[sqltype.AnyKey]()
)

// IsID reports whether the type is sqltype.ID or a sqltype.Key.
func IsID(t reflect.Type) bool { return t == idType || t.Kind() == reflect.Int64 && IsKey(t) }

// IsNull reports whether the type is sqltype.NullID or a sqltype.NullKey. Both have two fields,
// the id and Valid.
func IsNull(t reflect.Type) bool { return t == nullType || t.Kind() == reflect.Struct && IsKey(t) }

// IsKey reports whether the type is a sqltype.Key or a sqltype.NullKey. A struct of another
// package that embeds one has its methods, and is none.
func IsKey(t reflect.Type) bool { return t.PkgPath() == idType.PkgPath() && t.Implements(keyType) }

// IsInteger reports whether the type is an integer of 64 bits, or a pointer to one.
func IsInteger(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Int, reflect.Int64, reflect.Uint, reflect.Uint64:
		return t.Bits() == 64
	}
	return false
}

// Integer returns the value of an integer of 64 bits, or of one that a pointer leads to.
func Integer(v reflect.Value) (int64, bool) {
	if v = Indirect(v); !v.IsValid() || !IsInteger(v.Type()) {
		return 0, false
	}
	if v.CanInt() {
		return v.Int(), true
	}
	return int64(v.Uint()), true
}

// Digits returns the decimal text of an integer of any size, or of a NullID or NullKey, also
// behind pointers.
func Digits(v reflect.Value) (string, bool) {
	if v = Indirect(v); !v.IsValid() {
		return "", false
	}
	switch {
	case v.CanInt():
		return strconv.FormatInt(v.Int(), 10), true
	case v.CanUint():
		return strconv.FormatUint(v.Uint(), 10), true
	case IsNull(v.Type()) && v.Field(1).Bool():
		return strconv.FormatInt(v.Field(0).Int(), 10), true
	}
	return "", false
}

// Text returns what a key or a foreign key holds, as text. It is empty for zero.
func Text(field reflect.Value) string {
	if field = Indirect(field); !field.IsValid() || field.IsZero() {
		return ""
	}
	if id, ok := Integer(field); ok {
		return strconv.FormatInt(id, 10)
	}
	if field.Kind() == reflect.String {
		return field.String()
	}
	v := field.Interface()
	if valuer, ok := v.(driver.Valuer); ok {
		value, err := valuer.Value()
		if err != nil || value == nil {
			return ""
		}
		v = value
	}
	if b, ok := v.([]byte); ok {
		return string(b)
	}
	return fmt.Sprint(v)
}

// IDs is a set of ids that finds them in every form in which a field may hold one.
type IDs struct {
	lists [][]int64
	ids   map[int64]bool // nil until the first value is looked up
}

// NewIDs returns the set of all ids in the lists.
func NewIDs(lists [][]int64) *IDs { return &IDs{lists: lists} }

// Has reports whether the field holds one of the ids.
func (s *IDs) Has(field reflect.Value) bool {
	if s.ids == nil {
		s.ids = map[int64]bool{}
		for _, id := range slices.Concat(s.lists...) {
			s.ids[id] = true
		}
	}
	if id, ok := Integer(field); ok {
		return s.ids[id]
	}
	text := Text(field)
	if id, err := strconv.ParseInt(text, 10, 64); err == nil && s.ids[id] {
		return true
	}
	id, err := sqltype.ParseBase62(text)
	return err == nil && s.ids[int64(id)]
}
