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
// [Hook], inserting a row without a key fails with an error of the database; no row gets the key 0
// or 1. This holds for PostgreSQL and SQLite, and for MySQL and MariaDB in strict mode, if bun
// created the table or the column is a bigint without a default.
//
// The column of a sqltype.NullID or sqltype.NullKey is a bigint; without this package bun makes it
// jsonb or text.
//
// # What is not
//
// Foreign keys are not set, because bun does not insert relations: use sqltype.Assign. A row that is
// inserted from a map has no hook, so its key is not set. MySQL has no RETURNING: if an upsert there
// finds a row, the struct has another key than the row. Read the row by its unique column.
package bunkey
