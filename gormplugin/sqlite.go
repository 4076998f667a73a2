package gormplugin

import (
	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/sqlite"
)

// Migrator is like db.Migrator(), except on SQLite, where its changes keep all rows: call
// gormplugin.Migrator(db).AutoMigrate instead of db.AutoMigrate.
//
// To change a column or a constraint of SQLite, gorm copies the table and drops the old one. With
// foreign keys on, that also deletes the rows that refer to it by ON DELETE CASCADE. Migrator turns
// foreign keys off meanwhile, on its connection, and creates the table's indexes and triggers again,
// which gorm does not. It commits only if the table still has its rows, columns, values (of a changed
// type, converted) and primary key, except what DropColumn drops, and if its foreign keys hold, where
// they were on. Otherwise the table is as before, and the error names it.
//
// In a transaction, foreign keys cannot be turned off: there, the change of a table is refused if they
// are on, the table has rows, and a foreign key refers to it.
//
// On SQLite, Migrator also creates keys of sqltype's types as integer, so that they are the rowid, and
// treats integer and bigint as equal. AlterColumn(&Order{}, "ID") makes the key of an existing table the
// rowid, if the table has the clause PRIMARY KEY (id), as gorm writes it, and no key is NULL.
//
// The handle stays as it is, and needs no [Plugin]. If it is nil, Migrator panics like db.Migrator().
func Migrator(db *gorm.DB) gorm.Migrator {
	if checkDB(db) == nil && db.Name() == "sqlite" {
		db = sqlite.Session(db)
	}
	return db.Migrator()
}
