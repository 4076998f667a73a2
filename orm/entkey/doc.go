// Package entkey gives the schemas of entgo.io/ent Snowflake primary keys.
//
//	func (Order) Mixin() []ent.Mixin { return []ent.Mixin{entkey.Typed[Order]{}} } // or entkey.Mixin{}
//
//	func (Line) Fields() []ent.Field {
//		return []ent.Field{field.Int64("order_id").GoType(sqltype.Key[Order](0))}
//	}
//
//	client.Use(entkey.Keys(gen))
//
// [Mixin] declares the field "id" as a sqltype.ID, and [Typed] as a sqltype.Key. [Keys] sets it
// before a row is inserted. Package extension, which only a program that generates code imports,
// finds mistakes in schemas, names the types of keys and adds the indexes of foreign keys.
//
// # What is guaranteed
//
// A row that has no key, because Keys is not installed, is an error of the database, never a row
// under the key 1. That holds for PostgreSQL, SQLite, and MySQL and MariaDB in their strict mode.
// A key that is set is kept, and update builders cannot change a key. In JSON a key is a string.
//
// # What is not
//
// ent does not ask MySQL and MariaDB for the key of the row that an upsert found. So ID of an upsert is
// an error there: use Exec, and read the row by its unique column. Code that is generated without
// package extension returns wrong keys instead, also from bulk creates.
package entkey
