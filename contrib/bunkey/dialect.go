package bunkey

import (
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/migrate/sqlschema"
	"github.com/uptrace/bun/schema"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Dialect returns a dialect that does what d does, and gives src to each [Hook]. Inserts fail if src
// is nil. In tables of the models
//
//   - a primary key that is one sqltype.ID or sqltype.Key is never counted by the database, whatever
//     its tag says, and zero is not written;
//   - a column of a type of package sqltype is a bigint, unless its tag has a type.
func Dialect(d schema.Dialect, src sqltype.Source) schema.Dialect {
	own := &dialect{Dialect: d, src: src}
	own.tables = schema.NewTables(own)
	inspector, ok := d.(sqlschema.InspectorDialect)
	migrator, can := d.(sqlschema.MigratorDialect)
	if ok && can {
		return &migrating{own, inspector, migrator}
	}
	return own
}

type dialect struct {
	schema.Dialect
	tables *schema.Tables
	src    sqltype.Source
}

func (d *dialect) keys() sqltype.Source { return d.src }

// Tables returns those that were made with OnTable below.
func (d *dialect) Tables() *schema.Tables { return d.tables }

// OnTable is called when bun meets a model.
func (d *dialect) OnTable(table *schema.Table) {
	if key := keyOf(table); key != nil {
		key.AutoIncrement, key.Identity, key.NullZero = false, false, true
	}
	d.Dialect.OnTable(table)
	for _, field := range table.FieldMap {
		if isKey(field.IndirectType) || isNullKey(field.IndirectType) {
			field.DiscoveredSQLType = "BIGINT" // an INTEGER primary key of SQLite is counted
		}
	}
}

// migrating is a dialect for bun's automatic migrations.
type migrating struct {
	*dialect
	inspector sqlschema.InspectorDialect
	migrator  sqlschema.MigratorDialect
}

// NewInspector delegates to the inner dialect.
func (m *migrating) NewInspector(db *bun.DB, options ...sqlschema.InspectorOption) sqlschema.Inspector {
	return m.inspector.NewInspector(db, options...)
}

// CompareType delegates to the inner dialect.
func (m *migrating) CompareType(a, b sqlschema.Column) bool { return m.inspector.CompareType(a, b) }

// NewMigrator delegates to the inner dialect.
func (m *migrating) NewMigrator(db *bun.DB, schemaName string) sqlschema.Migrator {
	return m.migrator.NewMigrator(db, schemaName)
}
