package rows

import (
	"database/sql/driver"
	"fmt"
	"reflect"
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

// IsKey reports whether the type is a sqltype.Key or a sqltype.NullKey. A struct of another package
// that embeds one has its methods, but is not one.
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

// Text returns a key or a foreign key as a string, which is empty for zero.
func Text(field reflect.Value) string {
	if field = Indirect(field); !field.IsValid() || field.IsZero() {
		return ""
	}
	switch {
	case field.CanInt():
		return strconv.FormatInt(field.Int(), 10)
	case field.CanUint():
		return strconv.FormatUint(field.Uint(), 10)
	case field.Kind() == reflect.String:
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
