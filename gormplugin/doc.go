// Package gormplugin gives gorm models Snowflake primary keys. [Open] leases a worker ID from the
// handle's own database, makes a generator, and installs the plugin:
//
//	type Order struct {
//		gormplugin.Model // ID sqltype.ID, CreatedAt, UpdatedAt, DeletedAt
//		Customer string
//	}
//
//	gen, err := gormplugin.Open(ctx, db, gormplugin.Config{})
//	if err != nil {
//		return err
//	}
//	defer gen.Close(context.Background())
//	err = db.Create(&Order{Customer: "Ann"}).Error // INSERT INTO orders (id, …) VALUES (2048…, …)
//
// [New] makes a [Plugin] for a source of ids of your own; db.Use installs it. Package
// [github.com/seed-299c1d6b/snowkey/gormplugin/graph] writes orders with their lines and customers
// in one transaction, with one INSERT for each table.
//
// # Which fields are filled
//
// A sole primary key of type sqltype.ID or sqltype.Key is filled without a tag. The tag snowflake
// fills any other column that holds 64-bit integers or texts:
//
//	ID    int64      `gorm:"primaryKey;autoIncrement:false;snowflake"`
//	ID    string     `gorm:"primaryKey;size:11;snowflake:base62"`
//	No    int64      `gorm:"uniqueIndex;snowflake"`       // beside a key of another kind
//	ID    sqltype.ID `gorm:"primaryKey;snowflake:orders"` // from Config.Named["orders"]
//	ID    uint       `gorm:"snowflake:-"`                 // not filled, also under Config.Strict
//
// Config.Tables does for a table what a tag does for a field. Foreign keys are never filled.
//
// # Guarantees
//
// Every way to create a row fills the keys that are zero: Create of structs, slices and maps,
// CreateInBatches, Save, FirstOrCreate, associations and gorm.G. The hooks BeforeSave and
// BeforeCreate see the keys.
//
//   - A key that is set never changes. Zero, an empty text, nil and NULL count as not set.
//   - One create takes its ids from each source in one call, before it changes a row. If a source
//     fails, the create fails with an error that wraps the source's and names the table and the
//     field. No row is written with a zero key.
//   - After an upsert (clause.OnConflict, INSERT IGNORE), a struct whose key was zero has the key
//     of the row that is in the database, and its children refer to that.
//   - A filled column beside the key keeps its value in an existing row, also with UpdateAll.
//   - Under Config.Strict, which Open sets, creating a row whose key is not filled is an error.
//   - Rows and maps on which gorm would panic, a struct that is listed twice in one create, and
//     Omit of a key are errors, before anything is written.
//   - With AutoMigrate on SQLite, an integer key gets a constraint that refuses rows without a
//     key, and the table is WITHOUT ROWID if its rows are short.
//
// A [Plugin] has no global state and is safe for concurrent use. Call db.Use before the first
// create on a handle.
//
// # Limits
//
//   - Exec, Raw and Updates fill nothing.
//   - Save of a row whose key is set sends an UPDATE first. Use Create, or graph.Create, for new
//     rows with keys.
//   - An upsert does not find an existing row that collided in an index of expressions, of parts
//     of a column, or, on SQLite, in a partial index that no tag declares. The struct then has
//     the key 0; if other rows were to refer to it, the create fails. Rows given as maps are not
//     looked up.
//   - In MySQL and MariaDB, columns ignore case by default: a base 62 key needs
//     type:char(11) CHARACTER SET ascii COLLATE ascii_bin. A create is refused without it.
//   - gorm reads NULL into a sqltype.ID or a sqltype.Key as 0. Use a pointer, a sqltype.NullID or a
//     sqltype.NullKey for a column that may be NULL.
//   - The plugin keeps what it knows of a model for as long as it exists. Make a new one for each
//     handle if handles are opened and closed all the time.
//
// The page docs/gorm.md of the repository has the details of tags, upserts, hooks and SQLite, and
// how to replace auto-increment keys.
package gormplugin
