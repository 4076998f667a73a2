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
	// pgxtype: scan: NULL does not fit an ID, use sqltype.NullID or *sqltype.ID
}
