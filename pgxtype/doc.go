// Package pgxtype teaches pgx about [sqltype.ID], so that ids work wherever an
// int64 does, with no more allocations. The package's benchmarks set them beside it.
//
// Register it for every connection of a pool:
//
//	config, err := pgxpool.ParseConfig(url)
//	if err != nil {
//		return err
//	}
//	config.AfterConnect = pgxtype.AfterConnect
//
// or of database/sql over pgx:
//
//	db := stdlib.OpenDB(*config, stdlib.OptionAfterConnect(pgxtype.AfterConnect))
//
// # What it adds
//
// A single ID in a bigint column works without this package. Registered:
//
//   - ID, *ID and NullID are encoded and scanned without an allocation, in the
//     binary and in the text format, and []ID with two per array.
//   - []ID works as a parameter, as in = ANY($1), in every mode of execution,
//     those that PgBouncer needs ([pgx.QueryExecModeExec] and
//     [pgx.QueryExecModeSimpleProtocol]) included.
//   - An ID can be a parameter for, and be copied into, a column of type text,
//     where it is decimal.
//   - Ranges and multiranges of ids work in every mode as well.
//
// What pgx does with other types is unchanged: a bigint scanned into an any is
// still an int64.
//
// # NULL, negative numbers, json
//
// A nil *ID and an invalid NullID are NULL. NULL scanned into an ID, or into an
// element of a []ID, is [sqltype.ErrNull]; use NullID or *ID. A negative number
// is [sqltype.ErrNegative] both ways. A number that does not fit an int2 or int4
// column is pgx's error. On an error the destination keeps its value.
//
// A bare ID sent to a json or jsonb column is a JSON number there, which
// PostgreSQL keeps exactly; inside a struct it is a string, as [sqltype.ID]
// has it.
//
// # Order
//
// Register before pgx loads types that contain bigint ([pgx.Conn.LoadType] of
// a composite, domain or array): those keep the codec they find at that moment.
// [pgtype.Map.Copy] drops a part of what was registered; register the copy too.
package pgxtype
