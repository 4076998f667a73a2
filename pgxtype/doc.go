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
// is [sqltype.ErrNegative] both ways. A number that does not fit an int2 or int4
// column is pgx's error. On an error the destination keeps its value.
//
// # Other columns
//
// Of the types that pgx knows, those take an ID that take an int64, and text,
// varchar, bpchar, name, json and jsonb; the others are an error that names the type,
// such as bytea, interval, cidr, tsvector and jsonpath. Arrays go by their elements. A
// type that the program registers takes an ID if its codec takes an int64.
// float4, float8 and xml take an int64 and refuse an ID: it would be another number
// there, or <int64>7</int64>. In the modes Exec and SimpleProtocol pgx does not know
// the column: the server gets the decimal text of an ID, as of an int64, and takes it
// or not. bytea, "char", bit, varbit, jsonpath, xml, float4 and float8 are not scanned
// into an ID in any mode.
//
// # JSON
//
// In a json or jsonb column an ID is a string, as [sqltype.ID] has it within a struct or
// a slice. It is scanned from a string and from a number; null is NULL.
//
//	conn.QueryRow(ctx, `select doc->'id', doc->'parent' from docs`).Scan(&id, &parent)
//
// In the modes Exec and SimpleProtocol pgx does not know that a parameter is json. An
// ID is then a number, and a []ID an array of PostgreSQL's, which json refuses. A cast
// to text tells every mode:
//
//	conn.Exec(ctx, `insert into docs (doc) values (to_jsonb($1::text))`, id)
//	conn.Exec(ctx, `insert into docs (doc) values (to_jsonb($1::text[]))`, ids)
//
// Over database/sql, select doc->>'id': it asks the type's own Scan, which reads no JSON.
//
// # Without Register
//
// pgx's errors do not say that a registration is missing. These are the ones to expect
// on a bare connection:
//
//	unable to encode … into text format for text (OID 25)         an ID to a column of text
//	unable to encode … into text format for unknown type (OID 0)  a []ID in the modes Exec and SimpleProtocol
//	cannot scan unknown type (OID …) … into *[]sqltype.ID         an array of a domain that is not loaded
//	sqltype: scan "\"7\"": not a decimal id                       a JSON string
//
// Those of [Load] add the hint. After Register, the second one is about a type that has
// no default: pgx knows a composite in those modes after [pgtype.Map.RegisterDefaultPgType].
//
// # Order
//
// Register before pgx loads types that contain bigint or text ([pgx.Conn.LoadType] of
// a composite, domain or array): those keep the codec they find at that moment. Register
// after a codec for json of the program's own, which is kept and decorated.
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
