// Package insert lets the graph writer take part in the callbacks of its INSERTs. The plugin's
// callbacks find the writer's Insert in the settings of the statement; other statements have none.
package insert

import (
	"reflect"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/rows"
)

// Insert is an INSERT of the graph writer.
type Insert interface {
	// Dest returns what the statement creates.
	Dest() any
	// Begin is called before the hooks.
	Begin(db *gorm.DB)
	// Before is called before the INSERT, when the hooks before it have run.
	Before(db *gorm.DB)
	// After is called after the INSERT, before the hooks after it run.
	After(db *gorm.DB)

	// KeyGiven reports whether the writer has given row i of the statement its key.
	KeyGiven(i int) bool
	// Given returns all ids that the writer has given.
	Given() *rows.IDs
	// Replacing is called before a field of a row may be set to what an existing row has.
	Replacing(field reflect.Value)
	// IsParent reports whether another row refers to row i of the statement.
	IsParent(i int) bool
}

const setting = "snowkey:insert"

// With returns a handle whose create is the Insert.
func With(db *gorm.DB, i Insert) *gorm.DB { return db.Set(setting, i) }

// Of returns the Insert of a statement, or nil. A statement that a hook made from the
// writer's has other rows, and is not the writer's.
func Of(stmt *gorm.Statement) Insert {
	v, ok := stmt.Settings.Load(setting)
	if !ok {
		return nil
	}
	if i, ok := v.(Insert); ok && i.Dest() == stmt.Dest {
		return i
	}
	return nil
}
