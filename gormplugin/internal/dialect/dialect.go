// Package dialect knows in what the databases differ, beyond what gorm's dialectors report.
package dialect

import (
	"math"
	"reflect"
	"slices"

	"gorm.io/gorm"
)

// MaxParameters returns how many parameters the database takes in one statement.
func MaxParameters(db *gorm.DB) int {
	switch db.Name() {
	case "postgres", "mysql":
		return 65535
	case "sqlserver":
		return 2100
	}
	return 32766 // SQLite's, and likely enough for others
}

// FastInsert returns how many parameters and rows an INSERT has at most, unless the caller sets
// the number of rows. With more parameters, MariaDB is slower at every latency, and each prepared
// statement takes megabytes in PostgreSQL. SQLite has no round trips to save, and its driver in
// pure Go binds parameters in time that grows with the square of their number. SQL Server takes
// 1,000 rows.
func FastInsert(db *gorm.DB) (parameters, rows int) {
	switch db.Name() {
	case "postgres", "mysql":
		return 16384, math.MaxInt
	case "sqlite":
		return 500, math.MaxInt
	}
	return MaxParameters(db), 1000
}

// Returns reports whether an INSERT can return columns.
func Returns(db *gorm.DB) bool {
	return slices.Contains(db.Callback().Create().Clauses, "RETURNING")
}

// ReturnsCollisions reports whether an INSERT with ON CONFLICT DO NOTHING also returns the rows
// that existed. MariaDB does, because it updates each key to itself.
func ReturnsCollisions(db *gorm.DB) bool { return db.Name() == "mysql" && Returns(db) }

// CountsWritten reports whether the count of rows is that of the rows which were written. MySQL
// with clientFoundRows counts all. The setting is read by reflection, because gorm's driver is
// not imported here; it is not known if the handle was given a pool.
func CountsWritten(db *gorm.DB) bool {
	if db.Name() != "mysql" {
		return true
	}
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
	dialector := reflect.Indirect(reflect.ValueOf(db.Dialector))
	found := field(field(dialector, "DSNConfig"), "ClientFoundRows")
	pool := field(dialector, "Conn")
	return found.Kind() == reflect.Bool && !found.Bool() && pool.Kind() == reflect.Interface && pool.IsNil()
}
