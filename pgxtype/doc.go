// Package pgxtype registers [sqltype.ID] and every [sqltype.Key] with pgx, so that they work wherever
// an int64 does, without additional allocations. Its subpackage pgxload loads rows in bulk.
//
// Register the types for every connection of a pool:
//
//	config, err := pgxpool.ParseConfig(url)
//	if err != nil {
//		return err
//	}
//	config.AfterConnect = pgxtype.AfterConnect
//
// or, for database/sql over pgx and therefore GORM:
//
//	pool := stdlib.OpenDB(*config, stdlib.OptionAfterConnect(pgxtype.AfterConnect))
//	db, err := gorm.Open(postgres.New(postgres.Config{Conn: pool}))
//
// # What is guaranteed
//
// After registration, pgx encodes and scans ID, *ID, NullID, and every Key and NullKey, as bigint and as
// text without an allocation, and slices of IDs and Keys as bigint[] with two. A query that works
// without registration has the same result with it.
//
// A nil *ID and an invalid NullID are NULL. NULL scanned into an ID, or into an element of a []ID, is
// [sqltype.ErrNull]. A negative number is [sqltype.ErrNegative] in both directions. On an error an
// ID, a *ID, a NullID and a slice are unchanged.
//
// # What is not
//
// In json columns and all other types, pgx writes an id with Value, as a number, and reads it with
// Scan. Without Register, fewer column types and modes work: docs/pgx.md has a table.
package pgxtype
