// Package gormplugin gives gorm models Snowflake primary keys.
//
//	plugin, err := gormplugin.New(gormplugin.Config{Source: generator})
//	if err != nil {
//		return err
//	}
//	err = db.Use(plugin)
//
// From then on every create fills the keys that are still zero before the
// model's own BeforeCreate and BeforeSave hooks run, and before the details of
// an association are written: structs, slices, arrays, pointers to them, and
// maps. All rows of one create are served by one reservation of ids.
//
// # Which fields are filled
//
//   - a sole primary key of type [sqltype.ID] or *sqltype.ID needs no tag;
//   - any 64-bit integer field with the tag `snowflake`: a key of type int64 is
//     tagged gorm:"primaryKey;autoIncrement:false;snowflake", for gorm takes an
//     integer key for an auto-increment one unless told otherwise, and
//     [Validate] names those that were forgotten;
//   - snowflake:orders draws from the source of that name in Config.Named.
//
// A field that is set is never changed. A foreign key is never filled, whatever
// its type and tag, nor is a row of a many2many join table: what they hold is
// another row's key. A key that is also a foreign key, as where two tables
// share one, must be set; it is an error if it is not. gorm knows of such a key once
// it has met the model that refers to it: name that in Config.Models.
//
// A type of your own over sqltype.ID has none of its methods, and is a plain
// integer to gorm and to this package: tag it like an int64. [sqltype.NullID] is
// no type for a key.
//
// # Guarantees
//
// A source that fails fails the create: nothing is written with a zero key.
// A Select that leaves out a key that is filled writes it all the same, and an
// Omit of such a key is an error, since the row would be written under another
// key than the struct tells.
//
// One [Plugin] may serve many handles. It keeps what it has worked out for each
// model and handle as long as it lives, so make a new one where handles come and
// go. Call Use before the first create on a handle, not beside it, as gorm
// asks for all plugins.
package gormplugin
