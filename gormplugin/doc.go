// Package gormplugin gives gorm models Snowflake primary keys. One call leases a worker ID from
// the handle's own database, makes a generator and installs the plugin, see [Open]:
//
//	gen, err := gormplugin.Open(ctx, db, gormplugin.OpenConfig{})
//	if err != nil {
//		return err
//	}
//	defer gen.Close(context.Background())
//
// With a source of ids of your own, it is [New]:
//
//	plugin, err := gormplugin.New(gormplugin.Config{Source: generator, Strict: true})
//	if err != nil {
//		return err
//	}
//	err = db.Use(plugin)
//
// From then on every create fills the keys that are still zero before the
// model's own BeforeSave and BeforeCreate hooks run, and before the details of
// an association are written: structs, slices, arrays, pointers to them, and
// maps. All rows of one create are served by one reservation of ids from each source.
//
// # Which fields are filled
//
//	ID    sqltype.ID                                                             a sole key of this type needs no tag
//	ID    int64  `gorm:"primaryKey;autoIncrement:false;snowflake"`               an integer key; gorm takes it for auto-increment unless told otherwise
//	ID    string `gorm:"primaryKey;size:19;snowflake"`                           a text: decimal digits
//	ID    string `gorm:"primaryKey;size:11;snowflake:base62"`                    a text: eleven characters that sort as the ids do
//	No    int64  `gorm:"uniqueIndex;snowflake"`                                  a column that is no key, as a public number beside a serial one
//	ID    sqltype.ID `gorm:"primaryKey;snowflake"`                               of a composite key the part that is tagged
//	ID    sqltype.ID `gorm:"snowflake:orders"`                                   from the source "orders" in Config.Named
//	ID    string `gorm:"primaryKey;size:11;snowflake:orders,base62"`             both
//	ID    sqltype.ID `gorm:"snowflake:-"`                                        never filled
//	ID    uint  `gorm:"snowflake:-"`                                             a key of the database's, on purpose
//
// Without the tag, a key of another type than [sqltype.ID] is left to gorm and the database.
// Config.Strict makes that an error, so that no forgotten or misspelled tag goes unseen: every row
// created must have a key that the plugin fills, or whose field says snowflake:-, or
// whose model or table is in Config.Exempt. [Validate] and Config.Models look before the first row.
// A part of a composite key that is of type sqltype.ID and has no tag must be set: by the caller, by
// a hook, or by a default. Before [Assign] and [Create] a hook is too late.
//
// The type of a tagged field is int64, uint64, int or uint (of 64 bits), string, any
// type over one of them, [sqltype.NullID], or a pointer to any of these. A field may stand in
// an embedded struct; a nil pointer to one is made. [Model] is gorm.Model with such
// a key. Config.Tables does for a table by its name what a tag does for a field,
// for models that cannot be tagged and for maps without a model.
//
// A field that is set is never changed; zero, an empty text, nil, a pointer to zero and
// NULL are not set. A pointer is replaced, and what it pointed to keeps its value. A
// foreign key is never filled, whatever its type and tag, nor is a row
// of a many2many join table that gorm makes: what they hold is another row's key.
// (A join table that is a model of yours has its own key filled as usual.) A key that
// is also a foreign key, as where two tables share one, must be set, or the row it
// belongs to be saved with it; else it is an error. gorm knows of such a key once it has met the model
// that refers to it: name that in Config.Models.
//
// A key may be referred to by a foreign key of another type: a text holds its decimal
// digits. So [Create] and [Assign] write it. gorm itself would make U+FFFD of an id of most integer
// types, so a create, Save or Append that would have gorm save such an association is an error.
//
// Base 62 tells A from a. Columns of MySQL and MariaDB do not unless told to: give them, and the
// foreign keys that refer to them, type:char(11) CHARACTER SET ascii COLLATE ascii_bin. Validate
// refuses a tag without it, and a create a column that is not so. In PostgreSQL they do, but they
// sort in the order of the ids only with type:char(11) COLLATE "C".
//
// # What each way to create does
//
//	Create of a struct, slice, array, pointers     filled; the structs hold the keys afterwards, also under DryRun
//	Create of a struct or array by value           an error if a key is zero: there is nowhere to put it
//	Create of a map, of maps, with Model           filled under the column's name; "id", "ID" and "Id" are one key
//	db.Table(name).Create of a map, of maps        filled for tables in Config.Tables, as an int64 or a text
//	Create of []any, pointers to maps, nil rows    an error, where gorm panics or refuses it half-way
//	CreateInBatches, CreateBatchSize               one reservation for each batch
//	Save with a zero key, Save of a slice          filled, then inserted (a slice: with ON CONFLICT DO UPDATE)
//	Save with a key that is set                    an UPDATE, and an INSERT if no row was met; see below
//	FirstOrCreate, FirstOrInit and Save            filled if nothing was found
//	Associations of all kinds, Append, Replace     filled where zero, each list in one INSERT; join rows are left alone
//	gorm.G[T]: Create, CreateInBatches, Set        filled; Set creates from a map, so read the key back by another column
//	gorm.io/gen, gorm.io/plugin/dbresolver         as above; dbresolver may be put into use before or after
//	SkipHooks, SkipDefaultTransaction, PrepareStmt filled
//	Transaction, SavePoint and RollbackTo          filled; what is rolled back keeps its key in the struct
//	Select without the key                         the key is written all the same
//	Omit of the key                                an error: the row would have another key than the struct
//	Clauses(clause.OnConflict{…}), INSERT IGNORE   filled; the struct follows the row that is there; see Upserts
//	Exec, Raw, Updates                             nothing: they create no rows that gorm knows of
//
// The context of the statement is the source's: a create that waits for ids ends when
// its context does.
//
// # Masters and details
//
// [Assign] gives a whole graph of rows its keys and foreign keys from one
// reservation, and writes nothing. [Create] does so and writes the graph in one
// transaction, one INSERT of many rows for each table, masters first. On an error
// no row and no key stays; an error that wraps [ErrOutcomeUnknown] says that COMMIT
// was sent and no answer came: the keys stay, so that a retry writes nothing twice.
// [CreateWith] has options. Rows that refer to each other in a circle need one foreign key in it
// that may be NULL: an UPDATE sets it at the end.
//
// Create begins its transaction anew where that lost to another: a deadlock, a serialization failure.
// Hooks then run again. What others belong to and the far sides of many2many are written in the order of
// their unique columns, so that this is rare.
//
// In a transaction of yours, nothing is retried. An error of MySQL or MariaDB may have undone all of it: a
// deadlock, and from MariaDB 11.6 on also error 1020, where an upsert meets a row that
// another has committed since your first look. Run the transaction again.
//
// A graph whose keys are set already is written by Create too, never by gorm's
// Save: that updates first, and then writes details before their master.
//
// # Upserts
//
// After a create with clause.OnConflict, or with INSERT IGNORE, a struct whose key was zero has the
// key of the row that is in the database, and its details refer to that: by RETURNING where that
// tells it, else by one more SELECT, over the connection that the rows were written on. It asks by
// the conflict's columns or, where none are named (and on MySQL, where they mean nothing), by the
// unique indexes that the model's tags declare, and then by those that the database says the table
// has. A key that the caller set gives way only where columns are named. So a row that another
// belongs to, or the far side of a many2many, is found by its unique index: Tags: []Tag{{Word:
// "red"}} links to the tag that is there.
//
// A column beside the key that the plugin fills keeps its value in a row that exists: UpdateAll, Save of
// a slice, and Save of a struct in which it is zero do not change it. The struct then has the row's, except
// after a Save that updates: it keeps the zero that it had.
// To change it, set it in the struct, or name it in DoUpdates.
//
// A soft-deleted row is there as well, and is what others are linked to. If that is not wanted, make the
// unique index one of the rows that are not deleted: uniqueIndex:word,where:deleted_at IS NULL.
// MySQL and MariaDB take any unique index for the conflict's: a detail that collides with another
// parent's row, by whichever index, is that row, and moves to the new parent.
//
// What a row collided with is not found where the index is one of expressions or of parts of a
// column, or, in SQLite, a partial one that no tag declares. MariaDB tells it all the same. Elsewhere
// the struct has the key 0; where another row was to refer to it, the create or the update fails.
// Rows given as maps are not looked up.
//
// # Save
//
// gorm's Save takes a key that is set for a row that exists. It sends an UPDATE, and
// only when that met no row an INSERT. So a struct whose key was given beforehand
// costs one statement more with Save than with Create, and a whole graph of
// new rows with keys fails under foreign keys: gorm writes the details of
// an UPDATE before it finds that there is no master. Create what is new, Save what was read.
//
// # Hooks
//
// BeforeSave and BeforeCreate see the key. A hook that sets a key of its own, where it
// finds none, no longer does. One that sets it always still wins: what it sets is
// written, and what the plugin took is not used. One that sets it to zero fails the create, as
// Updates with a map fails that sets a key to zero. A copy that a hook makes of its row
// has the row's key: set the copy's to zero to create another row.
//
// # NULL
//
// gorm reads NULL into a field of type sqltype.ID as 0, without an error: it does not call Scan for
// NULL. Give a foreign key that may be NULL the type *sqltype.ID or sqltype.NullID.
//
// # Guarantees
//
// A source that stands under two names is asked once for both, if it can be compared, as pointers can.
// A source that fails fails the create with an error that names the table and the
// field and wraps the source's: no row is touched and nothing is written with a zero
// key. Under SkipDefaultTransaction, what gorm wrote before, as the rows that a row belongs
// to, stays.
//
// A struct that is twice in one create would have one key for two rows: that is an
// error, except where a conflict clause stands, as in the associations gorm saves, and it
// is then written once.
//
// One [Plugin] may serve many handles, and goroutines on each. It has no global state and
// changes no schema of gorm's. On SQLite it replaces the handle's Dialector by one that passes on
// to the driver's. It keeps what it has worked out for each
// model and handle as long as it lives, so make a new one where handles come and
// go. Call Use before the first create on a handle, not beside it, as gorm
// asks for all plugins.
//
// # SQLite
//
// An integer PRIMARY KEY of SQLite is the rowid: a row without a key gets max+1, before any
// constraint sees it. A bigint PRIMARY KEY is an index beside the rows, and accepts NULL. So AutoMigrate,
// CreateTable, and whatever else of gorm's Migrator writes a column, give a sole key that is filled, and
// is an integer, this type, whether its model says sqltype.ID or int64:
//
//	id bigint NOT NULL CHECK (id > 0)
//
// and make the table WITHOUT ROWID, which is one B-tree, about as small as one with a rowid. A row
// without a key is an error then, also in plain SQL and in a program that forgot the plugin; only INSERT OR
// IGNORE leaves it out without a word. Rows longer than a quarter of a page, 1,000 bytes by default, are
// split in such a table: models with a column of bytes, with a serializer, with a type such as text, json
// or blob, or with a size above 200 keep the index beside their rows. Settings of your own come first:
//
//	db.Set("gorm:table_options", "").AutoMigrate(&Post{})   an index beside the rows
//	ID sqltype.ID `gorm:"type:integer"`                     a rowid, which refuses nothing
//
// Tables that exist, composite keys, text keys and join tables stay as they are. To bring a table to
// this form, with its rows, indexes and triggers, call db.Migrator().AlterColumn(&Order{}, "ID")
// outside a transaction. A program without the plugin that has gorm alter a table, which means to make
// it again, loses WITHOUT ROWID but not the constraint; the same call restores it.
//
// # From auto-increment keys
//
// Change the field's type or tag; see the examples. Rows keep the keys they have, and new ones
// are greater. AutoMigrate leaves the column's sequence or AUTO_INCREMENT as it is in
// PostgreSQL, MySQL and MariaDB. Take it away, so that a program without the plugin gets an
// error rather than a key that a generator may issue next. In MySQL, MariaDB and SQLite end such
// programs before the first snowflake is written, since it lifts the counter above itself:
//
//	PostgreSQL      ALTER TABLE shops ALTER COLUMN id DROP DEFAULT; DROP SEQUENCE shops_id_seq;
//	MySQL, MariaDB  ALTER TABLE shops MODIFY id bigint NOT NULL;
//	SQLite          db.Migrator().AlterColumn(&Shop{}, "ID")
//
// A serial column of PostgreSQL must become a bigint first, with the foreign keys that refer to
// it. MySQL wants SET foreign_key_checks = 0 in the same session where foreign keys refer to
// the column. A key of type uint, as in gorm.Model, is bigint unsigned there: keep it an uint
// with the tag, or change the columns that refer to it as well.
package gormplugin
