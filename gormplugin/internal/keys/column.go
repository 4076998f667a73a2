package keys

import (
	"context"
	"fmt"
	"maps"
	"reflect"
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

	direct []int // the path to a signed integer that no pointer leads to, as most keys are; else nil
}

// IsZero reports whether the row has no value in the column. It returns an error if such a row
// cannot be given one.
func (c *Column) IsZero(row reflect.Value) (bool, error) {
	if row.Kind() == reflect.Map {
		for key, value := range row.Interface().(map[string]any) {
			if c.matches(key) && !isZero(reflect.ValueOf(value)) {
				return false, nil
			}
		}
		if c.Source != nil && c.Field != nil && c.Field.AutoIncrement {
			return true, fmt.Errorf("%s is auto-increment to gorm, which gives maps other keys than the rows have: add autoIncrement:false to its gorm tag %q",
				c.Name, c.Field.Tag.Get("gorm"))
		}
		return true, nil
	}
	if !isZero(rows.Field(row, c.Field.StructField.Index)) {
		return false, nil
	}
	if !row.CanAddr() && c.Source != nil {
		return true, fmt.Errorf("%s cannot be set in a value of type %s: create a pointer to it", c.Name, TypeName(row.Type()))
	}
	return true, nil
}

// Set sets the column of a row. It makes a nil embedded struct that the field is in.
func (c *Column) Set(ctx context.Context, row reflect.Value, id int64) {
	if row.Kind() == reflect.Map {
		m := row.Interface().(map[string]any)
		maps.DeleteFunc(m, func(key string, _ any) bool { return c.matches(key) }) // gorm would write "ID" and "id" both
		m[c.DBName] = c.Value(id)
		return
	}
	c.Kind.set(c.Field.ReflectValueOf(ctx, row), id)
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

// Missing counts the rows that have no value in the column.
func (c *Column) Missing(list *rows.Rows) (int, error) {
	n := 0
	for i := range list.Len {
		zero, err := c.isZeroAt(list, i)
		if err != nil {
			return 0, err
		}
		if zero {
			n++
		}
	}
	return n, nil
}

func (c *Column) isZeroAt(list *rows.Rows, i int) (bool, error) {
	if c.direct != nil && list.Fast() {
		return list.Direct(i, c.direct).Int() == 0, nil
	}
	return c.IsZero(list.At(i))
}

// Fill sets the column in the rows that have no value there. It returns how many ids are
// unused: rows that are the same struct take one together.
func (c *Column) Fill(ctx context.Context, list *rows.Rows, ids []int64) (unused int, err error) {
	direct := c.direct != nil && list.Fast()
	for i := 0; i < list.Len && len(ids) > 0; i++ {
		if direct {
			if key := list.Direct(i, c.direct); key.Int() == 0 {
				key.SetInt(ids[0])
				ids = ids[1:]
			}
			continue
		}
		zero, err := c.IsZero(list.At(i))
		if err != nil {
			return 0, err
		}
		if zero {
			c.Set(ctx, list.At(i), ids[0])
			ids = ids[1:]
		}
	}
	return len(ids), nil
}

// IsBase62 reports whether the column holds texts in which A and a differ.
func (c *Column) IsBase62() bool { return c.Kind == base62 }

// IsForeign reports whether the column is the key of another row.
func (c *Column) IsForeign() bool { return c.Field != nil && isForeignKey(c.Field.Schema, c.Field) }

// ErrNotSet returns the error for a row that has no value in the column when it is written.
func (c *Column) ErrNotSet() error {
	if c.Source != nil {
		return fmt.Errorf("%s was filled, and a hook has set it to zero", c.Name)
	}
	if !c.IsForeign() {
		return fmt.Errorf("%s is a part of the key that is not filled, and is not set: set it, or add snowflake to its gorm tag", c.Name)
	}
	return fmt.Errorf("%s is the key of another row, and is not set", c.Name)
}

// CheckMapUpdate refuses an update by a map that sets a key to zero.
func (c *Column) CheckMapUpdate(m map[string]any) error {
	for key, value := range m {
		if v := reflect.ValueOf(value); c.matches(key) && isZero(v) {
			if to := rows.Indirect(v); to.IsValid() {
				value = to.Interface() // not an address
			}
			return fmt.Errorf("%s is a key, and the map sets it to %v", c.Name, value)
		}
	}
	return nil
}

// matches reports whether a key of a map names the column: its name, as databases compare
// names, that of the field, or what gorm's naming makes of the key.
func (c *Column) matches(key string) bool {
	if strings.EqualFold(key, c.DBName) {
		return true
	}
	return c.Field != nil && (strings.EqualFold(key, c.Field.Name) || c.Field.Schema.LookUpField(key) == c.Field)
}
