package gormplugin

import (
	"reflect"
	"slices"

	"gorm.io/gorm"
)

// What a database tells of rows that ON CONFLICT DO NOTHING did not write.

// returnsCollisions reports whether it returns the rows that were there as well: MariaDB updates
// each key to itself.
func returnsCollisions(db *gorm.DB) bool {
	return db.Name() == "mysql" && slices.Contains(db.Callback().Create().Clauses, "RETURNING")
}

// countsWritten reports whether the count of rows is of those that were written. MySQL with
// clientFoundRows counts all. gorm's driver is not imported here; a handle that was given its
// pool does not tell.
func countsWritten(db *gorm.DB) bool {
	if db.Name() != "mysql" {
		return true
	}
	dialector := reflect.Indirect(reflect.ValueOf(db.Dialector))
	field := func(v reflect.Value, name string) reflect.Value {
		if v.Kind() == reflect.Struct {
			if f, ok := v.Type().FieldByName(name); ok {
				if value, err := v.FieldByIndexErr(f.Index); err == nil {
					return reflect.Indirect(value)
				}
			}
		}
		return reflect.Value{}
	}
	found := field(field(dialector, "DSNConfig"), "ClientFoundRows")
	pool := field(dialector, "Conn")
	return found.Kind() == reflect.Bool && !found.Bool() && pool.Kind() == reflect.Interface && pool.IsNil()
}
