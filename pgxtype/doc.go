// Package pgxtype teaches pgx about [sqltype.ID], so that ids work wherever an
// int64 does, with no more allocations, and loads masters with their details in
// bulk. The package's benchmarks set the types beside int64.
//
// Register it for every connection of a pool:
//
//	config, err := pgxpool.ParseConfig(url)
//	if err != nil {
//		return err
//	}
//	config.AfterConnect = pgxtype.AfterConnect
//
// or of database/sql over pgx, and so of GORM:
//
//	pool := stdlib.OpenDB(*config, stdlib.OptionAfterConnect(pgxtype.AfterConnect))
//	db, err := gorm.Open(postgres.New(postgres.Config{Conn: pool}))
//
// GORM writes a slice as a list, as IN wants it, and a pointer to a slice as one
// parameter, which is one plan and one statement for lists of every length:
//
//	db.Where("id IN ?", ids)
//	db.Where("id = ANY(?)", &ids)
//
// # Where it works
//
// "Described" are the modes in which pgx asks the server for the types of a
// statement: [pgx.QueryExecModeCacheStatement], the default, CacheDescribe and
// DescribeExec. Exec and SimpleProtocol are for poolers such as PgBouncer.
// "Bare" is a connection without Register. "Loaded" is a type that pgx has
// learnt by [pgx.Conn.LoadType]. A test holds this table against a server.
//
//	                                                          registered     bare
//	bigint: ID, *ID, NullID as parameters and scanned         all modes      all modes
//	int2, int4, numeric, oid, domain: the same                all modes      all modes
//	text, varchar: ID scanned                                 all modes      all modes
//	text, varchar: ID, *ID, NullID as parameters              all modes      Exec, Simple
//	json, jsonb: ID as a parameter, a number                  all modes      all modes
//	bigint[]: []ID, []*ID, []NullID scanned                   all modes      all modes
//	bigint[]: the same as parameters, = any($1)               all modes      described
//	bigint[][]: [][]ID scanned                                all modes      all modes
//	bigint[][]: [][]ID as a parameter                         all modes      described
//	text[], numeric[]: []ID as a parameter                    all modes      no
//	int8range: pgtype.Range[ID] scanned                       all modes      all modes
//	int8range: pgtype.Range[ID] as a parameter                all modes      described
//	int8multirange: scanned                                   all modes      all modes
//	int8multirange: as a parameter                            all modes      described
//	domain[], not loaded: []ID scanned                        all modes      no
//	domain[], not loaded: []ID as a parameter                 all modes      no
//	domain[], loaded: []ID scanned                            all modes      all modes
//	domain[], loaded: []ID as a parameter                     all modes      described
//	composite, loaded: a struct scanned                       all modes      all modes
//	composite, loaded: a struct as a parameter                all modes      all modes
//	CopyFrom: ID, *ID, NullID into bigint, numeric, domain    all modes      all modes
//	CopyFrom: ID into text                                    all modes      no
//	CopyFrom: []ID into bigint[]                              all modes      all modes
//	CopyFrom: []ID into domain[], not loaded                  all modes      no
//	CopyFrom: []ID into domain[], loaded                      all modes      all modes
//	NamedArgs, Batch, RowToStructByName, CollectRows          all modes      all modes
//
// Registered, ID, *ID and NullID are encoded and scanned without an allocation,
// in the binary and in the text format, and []ID with two per array. What pgx
// does with other types is unchanged: a bigint scanned into an any is still an
// int64.
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
//
// # Loading
//
// With keys that are known beforehand (sqltype.Assign), [Load] writes masters
// and any number of tables below them in one transaction, streamed, by COPY or by
// INSERT … SELECT unnest. Nothing is read back. A row that PostgreSQL refuses is
// named by its table and index, and nothing of the load stays:
//
//	loaded, err := pgxtype.Load(ctx, pool, pgxtype.Seq(slices.Values(orders)), pgxtype.LoadConfig[Order]{
//		Tables: []pgxtype.Table[Order]{
//			pgxtype.Masters(pgx.Identifier{"orders"}, []string{"id", "note"},
//				func(o *Order, row []any) []any { return append(row, &o.ID, &o.Note) }),
//			pgxtype.Details(pgx.Identifier{"order_lines"}, []string{"id", "order_id", "sku"},
//				func(o *Order) []Line { return o.Lines },
//				func(l *Line, row []any) []any { return append(row, &l.ID, &l.OrderID, &l.SKU) }),
//		},
//	})
//
// A master's rows are encoded before the sequence goes on, those of all tables. So
// an iterator may give the same struct again and again, with the same slices, byte
// slices and pointers in it, and overwrite all of them as soon as it is called again:
// Load holds encoded rows only, up to ChunkRows and ChunkBytes. The same holds for
// what a [DetailSeq] yields, and for the list that a function of [Details] returns.
// What must not change is what Load reads within one call of yield: a list that is
// returned while its rows are encoded, and the children that [Nested] is given for
// several tables.
//
// [Nested] gives tables of any depth, such as the parts of an order's lines.
// [Table.OnConflict] skips or updates rows whose key the table has already. Where
// such a key is there under another primary key the load ends with an error, so no
// child refers to a row that is not there, or to another's.
//
// [Retry] runs a transaction again that another was in the way of, or whose
// connection was lost before COMMIT. Its rows keep their keys, so no attempt can be
// written twice, not even one whose COMMIT came through unnoticed
// ([ErrOutcomeUnknown]):
//
//	err := pgxtype.Retry(ctx, pool, pgxtype.RetryConfig{}, func(tx pgx.Tx) error {
//		_, err := pgxtype.Load(ctx, tx, pgxtype.Seq(slices.Values(orders)), config)
//		return err
//	})
package pgxtype
