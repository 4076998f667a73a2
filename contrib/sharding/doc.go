// Package sharding spreads the rows of gorm models over many tables, with gorm.io/sharding: an order
// and its lines, for example, over orders_s0 to orders_s63 and lines_s0 to lines_s63.
//
//	type Order struct {
//		OrderID sqltype.Key[Order] `gorm:"primaryKey"`
//		Lines   []Line
//	}
//
//	type Line struct {
//		ID      sqltype.Key[Line]
//		OrderID sqltype.Key[Order]
//	}
//
//	err := db.Use(sharding.New(sharding.Config{Key: "order_id", Shards: 64}, &Order{}, &Line{}))
//	err = db.Use(&plugin)                            // of package gormplugin: it makes the keys
//	err = db.AutoMigrate(&Order{}, &Line{})          // creates 128 tables
//	err = graph.Create(ctx, db, order)               // an order and its lines have shards of one number
//	err = db.First(&order, "order_id = ?", id).Error // reads one table
//
// # What is guaranteed
//
// A row is in the shard that core.Shard returns for the column Config.Key, as in package ddl. The key
// may be a sqltype.ID, a Key, another integer, or a string of digits. A key of 0 is refused, and so is
// a statement that does not say "key = value", or that inserts rows of several shards: create those
// with CreateInBatches(rows, 1), or with graph.Config.BatchSize 1.
//
// gorm.io/sharding's generators are not used: they cannot return an error, and its snowflakes have the
// number of the table as their worker ID, so that two processes make the same key. If package
// gormplugin has not filled a key, the database refuses the row. On SQLite it numbers the row.
//
// # What is not
//
//   - gorm's creates, updates and deletes are no transactions of their own, because gorm.io/sharding
//     only pretends to begin one. So [New] sets SkipDefaultTransaction. graph.Create and
//     db.Transaction are transactions.
//   - Joins, FOR UPDATE and UNION fail; on MySQL and MariaDB also upserts, which gorm sends for
//     associations. gorm.io/sharding leaves them to the table without a suffix, so db.Use refuses a
//     handle that has this table. Do not create it later.
//   - In a WHERE with OR, only the last key counts: rows of other shards are not found.
//   - Preload works for one parent: for several it sends IN, which is refused.
//   - AutoMigrate makes no foreign keys on the handle.
//   - gorm's log shows the tables without their suffixes.
//   - A change of Config.Shards moves rows; see core.Shard.
package sharding
