// Package pgxtype registers [sqltype.ID] and every [sqltype.Key] with pgx, so that they work wherever
// an int64 does, with no more allocations. Package pgxload below it loads rows in bulk.
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
// Registered, ID, *ID and NullID are encoded and scanned without an allocation, in the binary and
// in the text format, and []ID with two per array. What pgx does with other types is
// unchanged: a bigint scanned into an any is still an int64.
//
// Every Key and NullKey is encoded and scanned as an ID and a NullID are, with as few allocations. A
// column of json or jsonb has the JSON of the key, every other one has the number.
//
// A nil *ID and an invalid NullID are NULL. NULL scanned into an ID, or into an element of a []ID, is
// [sqltype.ErrNull]. A negative number is [sqltype.ErrNegative] in both directions. On an error the
// destination is unchanged.
//
// # What is not
//
// Without Register, fewer column types and modes work. In the modes Exec and SimpleProtocol, for
// poolers such as PgBouncer, pgx does not know the type of a column: an ID for a json column is then
// a number. float4, float8, xml, bytea and the like refuse an ID.
//
// docs/pgx.md has a table of types and modes, and the details of JSON, errors and the order of
// registration.
package pgxtype
