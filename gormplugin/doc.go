// Package gormplugin gives gorm models Snowflake primary keys. db.Use installs a [Plugin], which
// leases a worker ID from the handle's own database and makes its ids:
//
//	type Order struct {
//		gormplugin.Model // ID sqltype.ID, CreatedAt, UpdatedAt, DeletedAt
//		Customer string
//		No       int64 `gorm:"uniqueIndex;snowflake"` // the tag fills other columns and types
//	}
//
//	var plugin gormplugin.Plugin
//	if err := db.Use(&plugin); err != nil {
//		return err
//	}
//	defer plugin.Close(context.Background())
//	err := db.Create(&Order{Customer: "Ann"}).Error // INSERT INTO orders (id, …) VALUES (2048…, …)
//
// A sole primary key named ID, or OrderID in Order, of type sqltype.ID, Key, NullID or NullKey needs
// no tag. Package [github.com/seed-299c1d6b/snowkey/gormplugin/graph] writes orders with their lines
// and customers in one transaction. The page docs/gorm.md of the repository has the tags, upserts,
// hooks and SQLite.
//
// # Guarantees
//
//   - Every way to create a row fills the keys that are zero, before hooks run: Create of structs,
//     slices and maps, CreateInBatches, Save, FirstOrCreate, associations and gorm.G. Zero, an empty
//     string, nil and NULL are not set. Foreign keys are never filled.
//   - A key that is set never changes, except by an upsert on other columns: the struct then gets
//     the key of the existing row. Another filled column keeps its value in an existing row.
//   - One create calls each source once, before it changes a row. If a source fails, so does the
//     create. No row is written with a key of 0.
//   - If a create fails, the keys that it filled are 0 again, except where the row may be in the
//     database: after a COMMIT that failed, in the earlier batches of CreateInBatches, and after an
//     INSERT that gorm does not roll back and that the database has not refused. Then create the same
//     structs again: the primary key refuses rows that exist. After an upsert with DoNothing, a key is
//     0 even then if a unique index without a condition can find the row and the model has no hooks.
//   - After an upsert (clause.OnConflict, INSERT IGNORE), a struct has the key of its row in the
//     database, and its children refer to that row. If the row is not found, the create fails.
//   - The plugin adds callbacks to the handle, and changes no Dialector, Migrator or other model.
//
// # Limits
//
//   - Exec, Raw and Updates fill nothing, and a handle without the plugin writes 0.
//   - Save of a row whose key is set sends an UPDATE first. Use Create, or graph.Create, for new
//     rows with keys.
//   - An upsert finds an existing row by the unique indexes that the model declares, and by the
//     values that were sent: it fails if the database rounds them. Rows given as maps are not
//     looked up.
//   - gorm reads NULL into a sqltype.ID or a sqltype.Key as 0: use a NullID or a NullKey.
//   - A plugin never forgets the models of a handle. If you open and close handles all the time,
//     make a plugin for each.
//
// The code reads in this order: plugin, lease, callbacks, statement, conflict, upsert, find, sqlite.
package gormplugin
