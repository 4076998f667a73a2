package gormplugin

import (
	"database/sql/driver"
	"fmt"
	"reflect"
	"strconv"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// keySet are keys that were given, in every form in which a field may hold one.
type keySet struct {
	given [][]int64
	ids   map[int64]bool  // made when first asked
	texts map[string]bool // so too
}

// has reports whether the field holds one of them.
func (s *keySet) has(field reflect.Value) bool {
	if id, ok := integer(field); ok {
		if s.ids == nil {
			s.ids = map[int64]bool{}
			for _, ids := range s.given {
				for _, id := range ids {
					s.ids[id] = true
				}
			}
		}
		return s.ids[id]
	}
	text := idText(field)
	if text == "" {
		return false
	}
	if s.texts == nil {
		s.texts = map[string]bool{}
		for _, ids := range s.given {
			for _, id := range ids {
				s.texts[strconv.FormatInt(id, 10)] = true
				s.texts[sqltype.ID(id).Base62()] = true
			}
		}
	}
	return s.texts[text]
}

// idText is what a key or a foreign key holds, as text; of one that is zero, "".
func idText(field reflect.Value) string {
	if !field.IsValid() || field.IsZero() {
		return ""
	}
	if field.Kind() == reflect.Pointer {
		field = field.Elem()
	}
	if id, ok := integer(field); ok {
		if id == 0 {
			return ""
		}
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
