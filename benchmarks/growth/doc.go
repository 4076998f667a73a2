// Package growth measures a table that grows to a million rows, and in
// PostgreSQL to ten million, under keys of several kinds: the speed of inserting, and the
// size of the table and its indexes.
//
// The speed is measured from one size to the next. Each INSERT has 1,000 rows and is a
// transaction that is on disk before it returns. The caches are those of
// database.Settings: a million rows fit, but the index of ten million random keys does not.
package growth
