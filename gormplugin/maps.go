package gormplugin

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// checkMap says why a map cannot be given a key of this field.
func (t *target) checkMap() error {
	switch {
	case t.source == nil:
		return nil // told where it is told of structs
	case t.field.AutoIncrement:
		return fmt.Errorf("%s is auto-increment to gorm, which gives maps other keys than the rows have: add autoIncrement:false to its gorm tag %q",
			t.name, t.field.Tag.Get("gorm"))
	}
	return nil
}

// mapIsZero reports whether no key of the map that means the column holds a value.
func (t *target) mapIsZero(m map[string]any) bool {
	for key, value := range m {
		if t.means(key) && !isZeroValue(value) {
			return false
		}
	}
	return true
}

func isZeroValue(value any) bool {
	v := indirect(reflect.ValueOf(value))
	if !v.IsValid() || v.IsZero() {
		return true
	}
	null, ok := v.Interface().(sqltype.NullID)
	return ok && (null.ID == 0 || !null.Valid)
}

// checkMapUpdate refuses an update that would set a key to zero.
func (t *target) checkMapUpdate(m map[string]any) error {
	for key, value := range m {
		if t.means(key) && isZeroValue(value) {
			return fmt.Errorf("%s is a key, and the map sets it to %v", t.name, value)
		}
	}
	return nil
}

// mapSet writes the column once: "ID" and "id" in one map would make gorm emit
// it twice.
func (t *target) mapSet(m map[string]any, id int64) {
	for key := range m {
		if t.means(key) {
			delete(m, key)
		}
	}
	switch {
	case t.field != nil:
		m[t.column] = t.kind.value(t.field.IndirectFieldType, id)
	case t.kind == signed:
		m[t.column] = id
	default:
		m[t.column] = t.kind.text(id)
	}
}

// means reports whether a map's key stands for the column: its name, as databases
// compare them, or the field's, or what gorm's naming makes of the key.
func (t *target) means(key string) bool {
	if strings.EqualFold(key, t.column) {
		return true
	}
	return t.field != nil && (strings.EqualFold(key, t.field.Name) || t.field.Schema.LookUpField(key) == t.field)
}
