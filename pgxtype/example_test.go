package pgxtype_test

import (
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seed-299c1d6b/snowkey/pgxtype"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

func ExampleAfterConnect() {
	config, err := pgxpool.ParseConfig("postgres://app@db.example/shop?default_query_exec_mode=exec")
	if err != nil {
		fmt.Println(err)
		return
	}
	config.AfterConnect = pgxtype.AfterConnect // every new connection knows the ids
	// Next: pool, err := pgxpool.NewWithConfig(ctx, config)
	fmt.Println(config.AfterConnect != nil, config.ConnConfig.DefaultQueryExecMode == pgx.QueryExecModeExec)
	// Output: true true
}

func ExampleRegister() {
	m := pgtype.NewMap() // or conn.TypeMap()
	pgxtype.Register(m)

	// A list of ids as the parameter of id = ANY($1).
	b, err := m.Encode(pgtype.Int8ArrayOID, pgtype.TextFormatCode, []sqltype.ID{7, 8}, nil)
	fmt.Println(string(b), err)

	var parent sqltype.NullID
	err = m.Scan(pgtype.Int8OID, pgtype.TextFormatCode, nil, &parent)
	fmt.Println(parent, err)

	var id sqltype.ID
	fmt.Println(m.Scan(pgtype.Int8OID, pgtype.TextFormatCode, nil, &id))
	// Output:
	// {7,8} <nil>
	// NULL <nil>
	// pgxtype: scan into *sqltype.ID: cannot scan NULL into an ID or a Key: use a sqltype.NullID, a sqltype.NullKey or a pointer
}

func ExampleRegister_keys() {
	m := pgtype.NewMap() // or conn.TypeMap()
	pgxtype.Register(m)  // once, for the keys of every type
	key := sqltype.Key[Customer](1996573624012345677)

	number, err := m.Encode(pgtype.Int8OID, pgtype.TextFormatCode, key, nil)
	fmt.Println(string(number), err)
	array, err := m.Encode(pgtype.Int8ArrayOID, pgtype.TextFormatCode, []sqltype.Key[Customer]{key, 7}, nil)
	fmt.Println(string(array), err)
	// Output:
	// 1996573624012345677 <nil>
	// {1996573624012345677,7} <nil>
}

// Customer declares that the text of its keys has a prefix.
type Customer struct{ ID sqltype.Key[Customer] }

func (*Customer) KeyForm() sqltype.Form { return sqltype.Form{Prefix: "cus"} }

func ExampleRegisterKey() {
	m := pgtype.NewMap()
	pgxtype.RegisterKey[Customer](m)

	// With database/sql: db.QueryRowContext(ctx, query).Scan(m.SQLScanner(&keys))
	var keys []sqltype.Key[Customer]
	err := m.SQLScanner(&keys).Scan("{7,8}")
	fmt.Println(keys, err)
	// Output: [cus_0000000000007 cus_0000000000008] <nil>
}
