// Package pgxtype registers [sqltype.ID] and every [sqltype.Key] with pgx, so that they work wherever
// an int64 does, with no more allocations. It also loads parent rows with their children in bulk,
// and retries transactions.
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
// [Load] writes tables of any depth in one transaction, by COPY or by INSERT … SELECT unnest, with
// keys that are assigned beforehand (sqltype.Assign). [Retry] runs a transaction again after a
// conflict or a lost connection:
//
//	err := pgxtype.Retry(ctx, pool, pgxtype.RetryConfig{}, func(tx pgx.Tx) error {
//		_, err := pgxtype.Load(ctx, tx, pgxtype.Seq(slices.Values(orders)), pgxtype.LoadConfig[Order]{
//			Tables: []pgxtype.Table[Order]{
//				pgxtype.ParentTable(pgx.Identifier{"orders"}, []string{"id", "note"},
//					func(o *Order, row []any) []any { return append(row, &o.ID, &o.Note) }),
//				pgxtype.ChildTable(pgx.Identifier{"order_lines"}, []string{"id", "order_id", "sku"},
//					func(o *Order) []Line { return o.Lines },
//					func(l *Line, row []any) []any { return append(row, &l.ID, &l.OrderID, &l.SKU) }),
//			},
//		})
//		return err
//	})
//
// # What is guaranteed
//
// Registered, ID, *ID and NullID are encoded and scanned without an allocation, in the binary and
// in the text format, and []ID with two per array. What pgx does with other types is
// unchanged: a bigint scanned into an any is still an int64.
//
// Every Key and NullKey is encoded and scanned as an ID and a NullID are, and costs the same. A
// column of json or jsonb has the JSON of the key, every other one has the number.
//
// A nil *ID and an invalid NullID are NULL. NULL scanned into an ID, or into an element of a []ID, is
// [sqltype.ErrNull]. A negative number is [sqltype.ErrNegative] in both directions. On an error the
// destination is unchanged.
//
// Load streams: it keeps only encoded rows, up to ChunkRows and ChunkBytes, so an iterator may
// reuse its memory. If PostgreSQL refuses a row, the error names its table and index, and
// nothing of the load is in the database. The rows of a Retry keep their keys, so no attempt
// is written twice, not even if a COMMIT succeeded without an answer ([ErrOutcomeUnknown]).
//
// # What is not
//
// Without Register, fewer column types and modes work. In the modes Exec and SimpleProtocol, for
// poolers such as PgBouncer, pgx does not know the type of a column: an ID for a json column is then
// a number. float4, float8, xml, bytea and the like refuse an ID.
//
// docs/pgx.md has a table of types and modes, and the details of JSON, errors, the order of
// registration and Retry.
package pgxtype
