package ddl_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/ddl"
)

func ExampleConfig_Functions() {
	script, err := ddl.Config{Dialect: ddl.Postgres, Schema: "shop", Prefix: "sf_"}.Functions()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, statement := range script[:4] { // for database/sql: one Exec each
		fmt.Println(statement)
	}
	// Output:
	// CREATE OR REPLACE FUNCTION "shop"."sf_time"(id bigint) RETURNS timestamptz
	//   LANGUAGE sql IMMUTABLE PARALLEL SAFE
	//   RETURN (CASE WHEN id >= 0 THEN to_timestamp(((id >> 22) + 1288834974657)::float8 / 1000)::timestamptz(3) END)
	// COMMENT ON FUNCTION "shop"."sf_time"(id bigint) IS 'time of an id of 41 time | 5 datacenter | 5 machine | 12 sequence, ticks of 1ms since 2010-11-04T01:42:54.657Z'
	// CREATE OR REPLACE FUNCTION "shop"."sf_worker_id"(id bigint) RETURNS bigint
	//   LANGUAGE sql IMMUTABLE PARALLEL SAFE
	//   RETURN (CASE WHEN id >= 0 THEN ((id >> 12) & 1023) END)
	// COMMENT ON FUNCTION "shop"."sf_worker_id"(id bigint) IS 'worker_id of an id of 41 time | 5 datacenter | 5 machine | 12 sequence, ticks of 1ms since 2010-11-04T01:42:54.657Z'
}

func ExampleConfig_Functions_sqlite() {
	script, err := ddl.Config{Dialect: ddl.SQLite}.Functions()
	fmt.Print(script)
	fmt.Println(err)
	// Output:
	// SELECT
	//   (CASE WHEN id >= 0 THEN (strftime('%Y-%m-%dT%H:%M:%S', ((id >> 22) + 1288834974657) / 1000, 'unixepoch') || printf('.%03dZ', ((id >> 22) + 1288834974657) % 1000)) END) AS `snowflake_time`,
	//   (CASE WHEN id >= 0 THEN ((id >> 12) & 1023) END) AS `snowflake_worker_id`,
	//   (CASE WHEN id >= 0 THEN (id & 4095) END) AS `snowflake_sequence`,
	//   (CASE WHEN id >= 0 THEN ((id >> 17) & 31) END) AS `snowflake_datacenter`,
	//   (CASE WHEN id >= 0 THEN ((id >> 12) & 31) END) AS `snowflake_machine`
	// FROM (SELECT ?1 AS id);
	// <nil>
}

func ExampleConfig_DropFunctions() {
	script, err := ddl.Config{Dialect: ddl.Postgres, Layout: core.JavaScriptSafe()}.DropFunctions()
	fmt.Print(script)
	fmt.Println(err)
	// Output:
	// DROP FUNCTION IF EXISTS "snowflake_time"(bigint);
	// DROP FUNCTION IF EXISTS "snowflake_worker_id"(bigint);
	// DROP FUNCTION IF EXISTS "snowflake_sequence"(bigint);
	// DROP FUNCTION IF EXISTS "snowflake_min"(timestamptz);
	// <nil>
}

func ExampleConfig_Expression() {
	worker, err := ddl.Config{Dialect: ddl.SQLite, Layout: core.JavaScriptSafe()}.Expression(ddl.WorkerID, "orders", "id")
	fmt.Println(worker, err)
	// Output: (CASE WHEN `orders`.`id` BETWEEN 0 AND 9007199254740991 THEN ((`orders`.`id` >> 6) & 63) END) <nil>
}

func ExampleConfig_Min() {
	least, err := ddl.Config{Dialect: ddl.Postgres}.Min("reports", "since")
	fmt.Println("SELECT * FROM orders, reports WHERE orders.id >= " + least)
	fmt.Println(err)
	// Output:
	// SELECT * FROM orders, reports WHERE orders.id >= ((ceil(extract(epoch FROM "reports"."since" AT TIME ZONE 'UTC') * 1000)::bigint - 1288834974657) * 4194304)
	// <nil>
}

func ExampleConfig_MinNow() {
	least, err := ddl.Config{Dialect: ddl.SQLite}.MinNow(90 * 24 * time.Hour)
	fmt.Println("DELETE FROM orders WHERE id < " + least)
	fmt.Println(err)
	// Output:
	// DELETE FROM orders WHERE id < ((CAST(strftime('%s', 'now') AS INTEGER) * 1000 + CAST(substr(strftime('%f', 'now'), 4) AS INTEGER) - 7776000000 - 1288834974657) * 4194304)
	// <nil>
}

func ExampleConfig_Domain() {
	script, err := ddl.Config{Dialect: ddl.Postgres}.Domain()
	fmt.Print(script)
	fmt.Println(err)
	_, err = ddl.Config{Dialect: ddl.MySQL}.Domain()
	fmt.Println(err, errors.Is(err, errors.ErrUnsupported))
	// Output:
	// CREATE DOMAIN "snowflake_id" AS bigint CHECK (VALUE > 0);
	// COMMENT ON DOMAIN "snowflake_id" IS 'an id of 41 time | 5 datacenter | 5 machine | 12 sequence, ticks of 1ms since 2010-11-04T01:42:54.657Z';
	// <nil>
	// ddl: MySQL has no domains, use a CHECK: unsupported operation true
}

func ExampleConfig_Check() {
	check, err := ddl.Config{Dialect: ddl.MySQL, Layout: core.JavaScriptSafe()}.Check("id")
	fmt.Println("CREATE TABLE orders (id bigint PRIMARY KEY " + check + ")")
	fmt.Println(err)
	// Output:
	// CREATE TABLE orders (id bigint PRIMARY KEY CHECK (`id` BETWEEN 1 AND 9007199254740991))
	// <nil>
}

func ExampleConfig_GeneratedColumn() {
	column, err := ddl.Config{Dialect: ddl.MySQL}.GeneratedColumn("created_at", ddl.Time, "id")
	fmt.Println("ALTER TABLE orders ADD COLUMN " + column)
	fmt.Println(err)
	// Output:
	// ALTER TABLE orders ADD COLUMN `created_at` datetime(6) GENERATED ALWAYS AS (CASE WHEN `id` >= 0 THEN (TIMESTAMP'2010-11-04 01:42:54.657' + INTERVAL (`id` DIV 4194304) * 1000 MICROSECOND) END) VIRTUAL
	// <nil>
}

func ExampleConfig_View() {
	script, err := ddl.Config{Dialect: ddl.Postgres, Layout: core.JavaScriptSafe()}.View("orders_decoded", "orders", "id")
	fmt.Print(script)
	fmt.Println(err)
	// Output:
	// CREATE VIEW "orders_decoded" AS
	//   SELECT t.*,
	//     (CASE WHEN t."id" BETWEEN 0 AND 9007199254740991 THEN to_timestamp(((t."id" >> 12) + 1577836800000)::float8 / 1000)::timestamptz(3) END) AS "snowflake_time",
	//     (CASE WHEN t."id" BETWEEN 0 AND 9007199254740991 THEN ((t."id" >> 6) & 63) END) AS "snowflake_worker_id",
	//     (CASE WHEN t."id" BETWEEN 0 AND 9007199254740991 THEN (t."id" & 63) END) AS "snowflake_sequence"
	//   FROM "orders" AS t;
	// <nil>
}

func ExampleParseDialect() {
	d, err := ddl.ParseDialect("MariaDB")
	fmt.Println(d, err)
	_, err = ddl.ParseDialect("oracle")
	fmt.Println(err)
	// Output:
	// mysql <nil>
	// ddl: Dialect "oracle": must be postgres, mysql or sqlite
}

func ExampleDialect_Quote() {
	fmt.Println(ddl.Postgres.Quote("shop", `the "orders"`))
	fmt.Println(ddl.MySQL.Quote("Orders"))
	fmt.Println(ddl.SQLite.Quote(""))
	// Output:
	// "shop"."the ""orders""" <nil>
	// `Orders` <nil>
	//  ddl: name "": must not be empty
}

func ExampleConfig_RequireKey() {
	script, err := ddl.Config{Dialect: ddl.SQLite}.RequireKey("orders", "id")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(script)
	// Output:
	// CREATE TRIGGER IF NOT EXISTS `orders_id_required` BEFORE INSERT ON `orders` WHEN NEW.`id` IS NULL OR NEW.`id` <= 0 BEGIN SELECT RAISE(ABORT, 'snowkey: the key is missing: only programs with a generator insert here'); END;
}

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

func ExampleConfig_Shard() {
	fmt.Println(ddl.Config{Dialect: ddl.Postgres}.Shard(16, "id"))
	fmt.Println(ddl.Config{Dialect: ddl.Postgres}.Shard(0, "id"))
	// Output:
	// (("id" % 3863124193) * ("id" % 2387542127) % 4294967291 * 1640531527 % 3037000493 * 2246822519 % 4294967279 % 16) <nil>
	//  ddl: n 0: must be 1 to 65536
}

func ExampleSharding_Clause() {
	orders := ddl.Sharding{Dialect: ddl.Postgres, Table: "orders", Count: 2, Servers: []string{"alpha", "beta"}}
	clause, err := orders.Clause()
	fmt.Println("CREATE TABLE orders (id bigint NOT NULL, note text)", clause)
	fmt.Println(err)
	_, err = ddl.Sharding{Dialect: ddl.Postgres, Table: "orders", Field: ddl.Time, Count: 100_000}.Clause()
	fmt.Println(err)
	_, err = ddl.Sharding{Dialect: ddl.MySQL, Table: "orders", Count: 2, Servers: []string{"alpha"}}.Clause()
	fmt.Println(err)
	// Output:
	// CREATE TABLE orders (id bigint NOT NULL, note text) PARTITION BY LIST ((("id" % 3863124193) * ("id" % 2387542127) % 4294967291 * 1640531527 % 3037000493 * 2246822519 % 4294967279 % 2))
	// <nil>
	// ddl: Count 100000: must be 1 to 65536; Servers nil: must not be empty; Field "time": must be datacenter or worker_id, or empty
	// ddl: Dialect "mysql": a Sharding is for PostgreSQL, with postgres_fdw; connect to the server of each row, which core.Shard finds: unsupported operation
}

func ExampleSharding_Create() {
	orders := ddl.Sharding{Dialect: ddl.Postgres, Table: "orders", Field: ddl.Datacenter, Count: 2, Servers: []string{"alpha", "beta"}}
	script, err := orders.Create()
	fmt.Print(script)
	fmt.Println(err)
	// Output:
	// CREATE FUNCTION "orders_shard"(id bigint) RETURNS bigint
	//   LANGUAGE sql IMMUTABLE PARALLEL SAFE
	//   RETURN (((id >> 17) & 31) % 2);
	// CREATE FOREIGN TABLE "orders_s0" PARTITION OF "orders" FOR VALUES IN (0) SERVER "alpha";
	// CREATE FOREIGN TABLE "orders_s1" PARTITION OF "orders" FOR VALUES IN (1) SERVER "beta";
	// <nil>
}

func ExampleSharding_Shards() {
	orders := ddl.Sharding{Dialect: ddl.Postgres, Table: "orders", Field: ddl.WorkerID, Count: 3, Servers: []string{"alpha", "beta"}}
	shards, err := orders.Shards()
	for _, one := range shards {
		fmt.Println(one.Number, one.Table, one.Server, one.Check)
	}
	fmt.Println(err)
	// Output:
	// 0 orders_s0 alpha CHECK (((("id" >> 12) & 1023) % 3) = 0)
	// 1 orders_s1 beta CHECK (((("id" >> 12) & 1023) % 3) = 1)
	// 2 orders_s2 alpha CHECK (((("id" >> 12) & 1023) % 3) = 2)
	// <nil>
}
