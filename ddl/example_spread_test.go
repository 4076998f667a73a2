package ddl_test

import (
	"fmt"

	"github.com/seed-299c1d6b/snowkey/ddl"
)

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
	_, err = ddl.Sharding{Dialect: ddl.Postgres, Table: "orders", Field: ddl.Time, Count: 2000}.Clause()
	fmt.Println(err)
	_, err = ddl.Sharding{Dialect: ddl.MySQL, Table: "orders", Count: 2, Servers: []string{"alpha"}}.Clause()
	fmt.Println(err)
	// Output:
	// CREATE TABLE orders (id bigint NOT NULL, note text) PARTITION BY LIST ((("id" % 3863124193) * ("id" % 2387542127) % 4294967291 * 1640531527 % 3037000493 * 2246822519 % 4294967279 % 2))
	// <nil>
	// ddl: Count 2000: must be 1 to 1024; Servers nil: must not be empty; Field "time": must be datacenter or worker, or empty
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
	orders := ddl.Sharding{Dialect: ddl.Postgres, Table: "orders", Field: ddl.Worker, Count: 3, Servers: []string{"alpha", "beta"}}
	shards, err := orders.Shards()
	for _, one := range shards {
		fmt.Println(one.Number, one.Table, one.Server, one.Check)
	}
	fmt.Println(err)
	// Output:
	// 0 orders_s0 alpha CHECK (((("id" >> 12) & 31) % 3) = 0)
	// 1 orders_s1 beta CHECK (((("id" >> 12) & 31) % 3) = 1)
	// 2 orders_s2 alpha CHECK (((("id" >> 12) & 31) % 3) = 2)
	// <nil>
}
