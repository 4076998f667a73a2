// Package bunkey fills Snowflake primary keys when uptrace/bun inserts rows.
//
//	db := bun.NewDB(pool, bunkey.Dialect(pgdialect.New(), gen))
//
//	type Order struct {
//		bunkey.Hook
//		ID       sqltype.Key[Order] `bun:",pk"`
//		ParentID sqltype.NullKey[Order]
//	}
//
//	_, err := db.NewInsert().Model(&orders).Exec(ctx) // the keys are set before the INSERT
//
// # What is guaranteed
//
// All new keys of an insert come from one reservation. Keys that are set are kept. If a model has no
// [Hook], a row without a key is an error of the database, never a row under the key 0 or 1. That
// holds for PostgreSQL, SQLite, and MySQL and MariaDB in their strict mode, if bun created the table,
// or if the column is a bigint without a default.
//
// The column of a sqltype.NullID or sqltype.NullKey is a bigint; without this package bun makes it
// jsonb or text.
//
// # What is not
//
// Foreign keys are not set, because bun does not insert relations: see sqltype.Assign. Rows that are
// inserted from a map have no hook. After an upsert on a database without RETURNING, which is MySQL,
// a row that exists has another key than the struct: read it by its unique column.
package bunkey
