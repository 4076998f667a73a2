package keys

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/rows"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// checkMap says why a map cannot be given a key of this field.
func (c *Column) checkMap() error {
	if c.Source != nil && c.Field.AutoIncrement {
		return fmt.Errorf("%s is auto-increment to gorm, which gives maps other keys than the rows have: add autoIncrement:false to its gorm tag %q",
			c.Name, c.Field.Tag.Get("gorm"))
	}
	return nil // without a source, the caller reports that it is not set
}

// mapIsZero reports whether no key of the map that stands for the column has a value.
func (c *Column) mapIsZero(m map[string]any) bool {
	for key, value := range m {
		if c.matches(key) && !isZeroValue(value) {
			return false
		}
	}
	return true
}

func isZeroValue(value any) bool {
	v := rows.Indirect(reflect.ValueOf(value))
	if !v.IsValid() || v.IsZero() {
		return true
	}
	null, ok := v.Interface().(sqltype.NullID)
	return ok && (null.ID == 0 || !null.Valid)
}

// CheckMapUpdate refuses an update by a map that sets a key to zero.
func (c *Column) CheckMapUpdate(m map[string]any) error {
	for key, value := range m {
		if c.matches(key) && isZeroValue(value) {
			return fmt.Errorf("%s is a key, and the map sets it to %v", c.Name, value)
		}
	}
	return nil
}

// mapSet sets the column once: gorm would write the column twice for a map with "ID" and "id".
func (c *Column) mapSet(m map[string]any, id int64) {
	for key := range m {
		if c.matches(key) {
			delete(m, key)
		}
	}
	switch {
	case c.Field != nil:
		m[c.DBName] = c.Value(id)
	case c.Kind == signed:
		m[c.DBName] = id
	default:
		m[c.DBName] = c.Kind.text(id)
	}
}

// matches reports whether a key of a map stands for the column: its name, as databases compare
// names, that of the field, or what gorm's naming makes of the key.
func (c *Column) matches(key string) bool {
	if strings.EqualFold(key, c.DBName) {
		return true
	}
	return c.Field != nil && (strings.EqualFold(key, c.Field.Name) || c.Field.Schema.LookUpField(key) == c.Field)
}
