package keys

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"gorm.io/gorm/schema"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/rows"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Column is a column that is filled or, without a Source, must be set: a key that is another
// row's, or an untagged part of a composite key.
type Column struct {
	Name       string // "Order.ID", for errors
	DBName     string
	Field      *schema.Field // nil for a table without a model
	Kind       Kind
	Source     sqltype.Source
	SourceName string // equal for columns of the same source
}

// IsZero reports whether the row has no value in the column.
func (c *Column) IsZero(row reflect.Value) bool {
	if row.Kind() != reflect.Map {
		v := rows.Field(row, c.Field.StructField.Index)
		return !v.IsValid() || v.IsZero() || v.Kind() > reflect.Float64 && isZero(v)
	}
	for key, value := range row.Interface().(map[string]any) {
		if c.matches(key) && !isZeroInMap(reflect.ValueOf(value)) {
			return false
		}
	}
	return true
}

// Set sets the column of a row. It allocates a nil embedded struct that holds the field.
func (c *Column) Set(ctx context.Context, row reflect.Value, id int64) {
	if row.Kind() == reflect.Map {
		m := row.Interface().(map[string]any)
		maps.DeleteFunc(m, func(key string, _ any) bool { return c.matches(key) }) // gorm would write "ID" and "id" both
		m[c.DBName] = c.Value(id)
		return
	}
	if v := c.Field.ReflectValueOf(ctx, row); v.Kind() == reflect.Int64 {
		v.SetInt(id)
	} else {
		c.Kind.set(v, id)
	}
}

// Value returns an id as the column holds it.
func (c *Column) Value(id int64) any {
	switch {
	case c.Field != nil:
		v := reflect.New(c.Field.IndirectFieldType).Elem()
		c.Kind.set(v, id)
		return v.Interface()
	case c.Kind == signed:
		return id
	}
	return c.Kind.text(id)
}

// Zero returns the indexes of the rows that have no value in the column. It returns an error if the plugin
// fills the column, and such a row cannot be given a value.
func (c *Column) Zero(list []reflect.Value) (zero []int, err error) {
	for i, row := range list {
		if !row.IsValid() || !c.IsZero(row) { // gorm refuses a nil pointer
			continue
		}
		if c.Source != nil && row.Kind() == reflect.Struct && !row.CanAddr() {
			return nil, fmt.Errorf("%s cannot be set in a value of type %s: create a pointer to it", c.Name, TypeName(row.Type()))
		}
		zero = append(slices.Grow(zero, len(list)-i), i)
	}
	return zero, nil
}

// Clear sets the column of a row back to zero.
func (c *Column) Clear(ctx context.Context, row reflect.Value) {
	if row.Kind() == reflect.Map {
		row.SetMapIndex(reflect.ValueOf(c.DBName), reflect.Value{})
		return
	}
	c.Field.ReflectValueOf(ctx, row).SetZero()
}

// ErrNotSet returns the error for a row that has no value in the column when it is written.
func (c *Column) ErrNotSet() error {
	switch {
	case c.Source != nil:
		return fmt.Errorf("a hook has set %s to zero: do not change it", c.Name)
	case isForeignKey(c.Field.Schema, c.Field):
		return fmt.Errorf("foreign key %s is zero", c.Name)
	case len(c.Field.Schema.PrimaryFields) > 1:
		return fmt.Errorf("%s is a part of the key, and is zero: set it, or add snowflake to its gorm tag", c.Name)
	}
	return fmt.Errorf("%s is zero: it is not named ID, so it may be the key of another row; set it, or add snowflake to its gorm tag if it is the row's own", c.Name)
}

// matches reports whether a map's key names the column: by the column's or the field's name, in any
// case, or as gorm looks up a field.
func (c *Column) matches(key string) bool {
	if strings.EqualFold(key, c.DBName) {
		return true
	}
	return c.Field != nil && (strings.EqualFold(key, c.Field.Name) || c.Field.Schema.LookUpField(key) == c.Field)
}
