// Package gormplugin gives gorm models Snowflake primary keys. db.Use installs a [Plugin], which
// leases a worker ID from the handle's own database and makes its ids:
//
//	type Order struct {
//		gormplugin.Model // ID sqltype.ID, CreatedAt, UpdatedAt, DeletedAt
//		Customer string
//	}
//
//	var plugin gormplugin.Plugin
//	if err := db.Use(&plugin); err != nil {
//		return err
//	}
//	defer plugin.Close(context.Background())
//	err := db.Create(&Order{Customer: "Ann"}).Error // INSERT INTO orders (id, …) VALUES (2048…, …)
//
// [New] makes a Plugin with a [Config], for example with a source of ids of your own. Package
// [github.com/seed-299c1d6b/snowkey/gormplugin/graph] writes orders with their lines and customers
// in one transaction, with one INSERT for each table.
//
// # Which fields are filled
//
// A sole primary key named ID, or OrderID in Order, of type sqltype.ID, Key, NullID or NullKey is
// filled without a tag. The tag snowflake fills any other column that holds 64-bit integers or
// strings:
//
//	ID    int64      `gorm:"primaryKey;autoIncrement:false;snowflake"`
//	ID    string     `gorm:"primaryKey;size:11;snowflake:base62"`
//	No    int64      `gorm:"uniqueIndex;snowflake"`       // beside a key of another kind
//	ID    sqltype.ID `gorm:"primaryKey;snowflake:orders"` // from Config.Named["orders"]
//	ID    sqltype.ID `gorm:"snowflake:-"`                 // not filled
//
// Config.Tables does for a table what a tag does for a field. Foreign keys are never filled. The
// plugin changes no other model or column: old tables work as before.
//
// # Guarantees
//
// Every way to create a row fills the keys that are zero: Create of structs, slices and maps,
// CreateInBatches, Save, FirstOrCreate, associations and gorm.G. The hooks BeforeSave and
// BeforeCreate see the keys.
//
//   - A key that is set never changes, except by an upsert on other columns: the struct then gets
//     the key of the existing row. Zero, an empty string, nil and NULL count as not set.
//   - One create calls each source once, before it changes a row. If a source fails, the create
//     fails with an error that wraps the source's and names the table and the field. No row is
//     written with a key of 0.
//   - If a create fails, the keys that it filled are 0 again, unless their rows may be in the
//     database: if COMMIT fails, if an error follows an INSERT that gorm does not roll back, and in
//     the earlier batches of CreateInBatches.
//   - After an upsert (clause.OnConflict, INSERT IGNORE), a struct whose key was zero has the key
//     of the row in the database, and its children refer to it. If the row is not found, the create
//     fails.
//   - A filled column beside the key keeps its value in an existing row, also with UpdateAll.
//   - What a create does depends on its model alone, not on which models gorm has parsed before.
//
// A [Plugin] has no global state and is safe for concurrent use. Call db.Use before the first
// create on a handle.
//
// # Limits
//
//   - Exec, Raw and Updates fill nothing, and a handle without the plugin writes 0. gorm's tag
//     check:id > 0 makes the database refuse that.
//   - On SQLite, an integer key is the rowid: an INSERT that does not name it gets max+1.
//   - Save of a row whose key is set sends an UPDATE first. Use Create, or graph.Create, for new
//     rows with keys.
//   - An upsert finds an existing row by the unique indexes that the model declares, and by the
//     values that were sent: it fails if the database rounds them. Rows given as maps are not
//     looked up.
//   - In MySQL and MariaDB, columns ignore case by default: a base 62 key needs
//     type:char(11) CHARACTER SET ascii COLLATE ascii_bin. A create is refused without it.
//   - gorm reads NULL into a sqltype.ID or a sqltype.Key as 0. Use a pointer, a sqltype.NullID or a
//     sqltype.NullKey for a column that may be NULL.
//   - A plugin never forgets the models of a handle. If you open and close handles all the time,
//     make a plugin for each.
//
// The page docs/gorm.md of the repository has the details of tags, upserts, hooks and SQLite, and
// how to replace auto-increment keys.
package gormplugin
