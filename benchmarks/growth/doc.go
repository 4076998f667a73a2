// Package growth measures a table that grows to a million rows, and in
// PostgreSQL to ten million, under keys of several kinds: how fast rows still go
// in, and what the table and its indexes take.
//
// The speed is that of the last stretch, from the size before. Each INSERT has
// 1,000 rows and is a transaction that is on the disk before it returns. The
// caches are those of database.Settings: a million rows fit, and of ten million
// under a random key the index does not.
package growth
