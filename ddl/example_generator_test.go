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
	fmt.Print(script)
	fmt.Println(err)
	// Output:
	// DO $snowkey$
	// BEGIN
	//   IF to_regclass('"public"."snowkey_generator"') IS NOT NULL THEN
	//     IF EXISTS (SELECT FROM "public"."snowkey_generator" WHERE version <> 1) THEN
	//       RAISE EXCEPTION 'snowkey: % is a generator of another version than %, that of this script: use the snowkey that created it', '"public"."snowkey_next"', 1;
	//     END IF;
	//   END IF;
	//   DROP FUNCTION IF EXISTS "public"."snowkey_next"(text);
	//   IF to_regclass('"public"."snowkey_cursor"') IS NOT NULL AND to_regclass('"public"."snowkey_fence"') IS NOT NULL AND to_regprocedure('"public"."snowkey_release"' || '()') IS NOT NULL
	//      AND to_regclass('"public"."snowkey_generator"') IS NOT NULL AND to_regclass('"public"."snowkey_marker"') IS NOT NULL AND to_regclass('"public"."snow_worker"') IS NOT NULL THEN
	//     PERFORM "public"."snowkey_release"();
	//   END IF; -- else which ids were made is not known, so the worker IDs stay reserved
	//   DROP FUNCTION IF EXISTS "public"."snowkey_claim"(bigint[], int), "public"."snowkey_release"(), "public"."snowkey_refill"(text), "public"."snowkey_ahead_hint"(float8), "public"."snowkey_check"(), "public"."snowkey_copied"(), "public"."snowkey_nudge"(), "public"."snowkey_flushed"(pg_lsn), "public"."snowkey_workers"(), "public"."snowkey_home"();
	//   DROP SEQUENCE IF EXISTS "public"."snowkey_cursor", "public"."snowkey_fence", "public"."snowkey_fence_lsn", "public"."snowkey_safe";
	//   DROP TABLE IF EXISTS "public"."snowkey_generator", "public"."snowkey_marker";
	//   DROP VIEW IF EXISTS "public"."snowkey_lock";
	// END $snowkey$;
	// <nil>
}
