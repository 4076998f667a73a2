// Package pgxtype registers [sqltype.ID] with pgx, so that ids work wherever an
// int64 does, with no more allocations. It also loads masters with their details in
// bulk. The package's benchmarks compare the types with int64.
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
// GORM writes a slice as a list, for IN, and a pointer to a slice as one
// parameter. With one parameter, lists of every length share one statement and plan:
//
//	db.Where("id IN ?", ids)
//	db.Where("id = ANY(?)", &ids)
//
// # Where it works
//
// "Described" are the modes in which pgx asks the server for the types of a
// statement: [pgx.QueryExecModeCacheStatement], the default, CacheDescribe and
// DescribeExec. Exec and SimpleProtocol are for poolers such as PgBouncer.
// "Bare" is a connection without Register. A "loaded" type is one that the program
// has registered after [pgx.Conn.LoadType]. A test checks this table against a server.
//
//	                                                          registered     bare
//	bigint: ID, *ID, NullID as parameters and scanned         all modes      all modes
//	int2, int4, numeric, oid, domain: the same                all modes      all modes
//	text, varchar: ID scanned                                 all modes      all modes
//	text, varchar: ID, *ID, NullID as parameters              all modes      Exec, Simple
//	json, jsonb: ID as a parameter, a string                  described      no
//	json, jsonb: ID as a parameter, a number                  Exec, Simple   all modes
//	json, jsonb: []ID as a parameter, an array of strings     described      described
//	to_jsonb($1::text): ID, a string                          all modes      Exec, Simple
//	to_jsonb($1::text[]): []ID, an array of strings           all modes      no
//	json, jsonb: ID, *ID, NullID scanned from a number        all modes      all modes
//	json, jsonb: the same from a string, and from null        all modes      no
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
//	composite, loaded: a struct as a parameter                described      described
//	the same, after RegisterDefaultPgType                     all modes      all modes
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
// # NULL, negative numbers
//
// A nil *ID and an invalid NullID are NULL. NULL scanned into an ID, or into an
// element of a []ID, is [sqltype.ErrNull]; use NullID or *ID. A negative number
// is [sqltype.ErrNegative] in both directions. For a number that does not fit an int2
// or int4 column, pgx returns its own error. On an error the destination keeps its value.
//
// # Other columns
//
// An ID can be a parameter for a column of text, varchar, bpchar, name, json, jsonb, and
// of each type for which pgx accepts an int64. Other types, such as bytea, interval, cidr,
// tsvector and jsonpath, are an error that names the type. An array follows its element
// type. A type that the program registers accepts an ID if its codec accepts an int64.
//
// float4, float8 and xml accept an int64, but refuse an ID: it would be rounded, or
// written as <int64>7</int64>. In the modes Exec and SimpleProtocol pgx does not know
// the column. It sends the decimal text of an ID, as it does for an int64, and the server
// accepts or refuses it. bytea, "char", bit, varbit, jsonpath, xml, float4 and float8
// cannot be scanned into an ID in any mode.
//
// # JSON
//
// In a json or jsonb column an ID is a string, as it is within a struct or a slice. It is
// scanned from a string or a number. null is scanned as NULL.
//
//	conn.QueryRow(ctx, `select doc->'id', doc->'parent' from docs`).Scan(&id, &parent)
//
// In the modes Exec and SimpleProtocol pgx does not know that a parameter is json. An
// ID is then a number, and a []ID is a PostgreSQL array, which json refuses. A cast
// to text works in every mode:
//
//	conn.Exec(ctx, `insert into docs (doc) values (to_jsonb($1::text))`, id)
//	conn.Exec(ctx, `insert into docs (doc) values (to_jsonb($1::text[]))`, ids)
//
// With database/sql, select doc->>'id': database/sql calls [sqltype.ID.Scan], which does
// not read JSON.
//
// # Without Register
//
// pgx's errors do not say that a registration is missing. On a bare connection, expect
// these:
//
//	unable to encode … into text format for text (OID 25)         an ID to a column of text
//	unable to encode … into text format for unknown type (OID 0)  a []ID in the modes Exec and SimpleProtocol
//	cannot scan unknown type (OID …) … into *[]sqltype.ID         an array of a domain that is not loaded
//	sqltype: scan "\"7\"": not a decimal id                       a JSON string
//
// The errors of [Load] add that hint. After Register, the second error means that the Go
// type has no default PostgreSQL type: for a composite, call
// [pgtype.Map.RegisterDefaultPgType].
//
// # Order
//
// Call Register before pgx loads types that contain bigint or text ([pgx.Conn.LoadType] of
// a composite, domain or array), because a loaded type keeps the codecs of that moment. Call
// Register after the program registers its own codec for json: Register wraps that codec.
// [pgtype.Map.Copy] drops a part of what was registered. Register the copy too.
//
// # Loading
//
// With keys that are assigned beforehand (sqltype.Assign), [Load] writes masters
// and any number of tables below them in one transaction. It streams the rows, by COPY or
// by INSERT … SELECT unnest, and reads nothing back. If PostgreSQL refuses a row, the
// error names its table and index, and the whole load is rolled back:
//
//	loaded, err := pgxtype.Load(ctx, pool, pgxtype.Seq(slices.Values(orders)), pgxtype.LoadConfig[Order]{
//		Tables: []pgxtype.Table[Order]{
//			pgxtype.ParentTable(pgx.Identifier{"orders"}, []string{"id", "note"},
//				func(o *Order, row []any) []any { return append(row, &o.ID, &o.Note) }),
//			pgxtype.ChildTable(pgx.Identifier{"order_lines"}, []string{"id", "order_id", "sku"},
//				func(o *Order) []Line { return o.Lines },
//				func(l *Line, row []any) []any { return append(row, &l.ID, &l.OrderID, &l.SKU) }),
//		},
//	})
//
// Load encodes all rows of a master before it asks the sequence for the next one, and
// keeps only encoded rows, up to ChunkRows and ChunkBytes. So an iterator may reuse the
// same struct, with its slices, byte slices and pointers, for every master. The same is
// true of what a [ChildTableSeq] yields, and of the list that a function of [Details] returns.
// Only within one call of yield must the data not change: neither a list while its rows
// are encoded, nor the children that [Nested] returns for several tables.
//
// [Nested] makes tables of any depth, such as the parts of an order's lines.
// [Table.OnConflict] skips or updates rows whose key exists in the table. If
// the key exists under another primary key, the load fails, so that no
// child refers to a missing or a wrong row.
//
// [Retry] runs a transaction again after a conflict with another transaction, or if the
// connection was lost before COMMIT. The rows keep their keys, so no attempt is
// written twice, not even if a COMMIT succeeded without an answer
// ([ErrOutcomeUnknown]):
//
//	err := pgxtype.Retry(ctx, pool, pgxtype.RetryConfig{}, func(tx pgx.Tx) error {
//		_, err := pgxtype.Load(ctx, tx, pgxtype.Seq(slices.Values(orders)), config)
//		return err
//	})
package pgxtype
