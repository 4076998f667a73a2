package ddl_test

import (
	"fmt"

	"github.com/seed-299c1d6b/snowkey/ddl"
)

func ExampleGenerator_SetDefault() {
	orders := ddl.Generator{Dialect: ddl.Postgres, Namespace: "orders"}
	script, err := orders.SetDefault("id", "orders")
	fmt.Print(script)
	fmt.Println(err)
	// Output:
	// ALTER TABLE "orders" ALTER COLUMN "id" SET DEFAULT "public"."snowkey_next"('orders');
	// <nil>
}

func ExampleGenerator_Default() {
	next, err := ddl.Generator{Dialect: ddl.Postgres, Schema: "shop", Prefix: "sf_"}.Default()
	fmt.Println("CREATE TABLE shop.orders (id bigint PRIMARY KEY DEFAULT " + next + ", note text)")
	fmt.Println(err)
	// Output:
	// CREATE TABLE shop.orders (id bigint PRIMARY KEY DEFAULT "shop"."sf_next"('default'), note text)
	// <nil>
}

func ExampleGenerator_Create() {
	script, err := ddl.Generator{Dialect: ddl.Postgres, Namespace: "orders", Workers: []int64{1000, 1001}}.Create()
	fmt.Println(script[len(script)-1]) // the statements before it create tables, sequences and functions
	fmt.Println(err)
	_, err = ddl.Generator{Dialect: ddl.SQLite}.Create()
	fmt.Println(err)
	// Output:
	// SELECT "public"."snowkey_claim"(ARRAY[1000, 1001]::bigint[])
	// <nil>
	// ddl: Dialect "sqlite": the generator in SQL is for PostgreSQL; issue ids in Go, with gormplugin or worker/sqlstore, and reject rows without a key by Config.RequireKey: unsupported operation
}

func ExampleGenerator_Drop() {
	script, err := ddl.Generator{Dialect: ddl.Postgres}.Drop()
	fmt.Println(len(script), "statement, which releases the worker IDs", err)
	// Output: 1 statement, which releases the worker IDs <nil>
}
