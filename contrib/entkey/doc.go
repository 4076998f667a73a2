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
// [Mixin] declares the field "id" as a sqltype.ID, [Typed] as a sqltype.Key. [Keys] sets the field
// before a row is inserted. Package extension checks schemas while ent generates code, declares an
// alias for each type of key, and adds indexes to foreign keys. Only the program that generates the
// code imports it.
//
// # What is guaranteed
//
// If Keys is not installed, inserting a row without a key fails with an error of the database; no
// row gets the key 1. This holds for PostgreSQL and SQLite, and for MySQL and MariaDB in strict mode.
// A key that is set is kept, and update builders cannot change a key. In JSON a key is a string.
//
// # What is not
//
// On MySQL and MariaDB, ent does not read the key of the row that an upsert updated. So the ID method
// of an upsert returns an error there: use Exec, and read the row by its unique column. If the code
// was generated without package extension, upserts and bulk creates return wrong keys instead.
package entkey
