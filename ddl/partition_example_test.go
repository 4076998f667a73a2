package ddl_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/DATA-DOG/go-sqlmock"

	"github.com/seed-299c1d6b/snowkey/ddl"
)

var november = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

func ExamplePartitioning_Extend_new() {
	orders := ddl.Partitioning{Dialect: ddl.Postgres, Table: "orders", By: ddl.Month}
	script, err := orders.Extend(nil, november, november.AddDate(0, 3, 0)) // a table without partitions
	fmt.Print(script)
	fmt.Println(err)
	// Output:
	// CREATE TABLE "orders_p202611" PARTITION OF "orders" FOR VALUES FROM (2116681624581046272) TO (2127553260549046272);
	// CREATE TABLE "orders_p202612" PARTITION OF "orders" FOR VALUES FROM (2127553260549046272) TO (2138787284382646272);
	// CREATE TABLE "orders_p202701" PARTITION OF "orders" FOR VALUES FROM (2138787284382646272) TO (2150021308216246272);
	// <nil>
}

func ExamplePartitioning_Bounds() {
	orders := ddl.Partitioning{Dialect: ddl.MySQL, Table: "orders", By: ddl.Week}
	parts, err := orders.Bounds(november, november.AddDate(0, 0, 7))
	for _, p := range parts {
		fmt.Println(p.Name, p.From.Format(time.DateOnly), p.To.Format(time.DateOnly), p.Min, p.Max)
	}
	fmt.Println(err)
	// Output:
	// p2026w44 2026-10-26 2026-11-02 2114507297387446272 2117044012446646272
	// p2026w45 2026-11-02 2026-11-09 2117044012446646272 2119580727505846272
	// <nil>
}

func ExamplePartitioning_Clause() {
	orders := ddl.Partitioning{Dialect: ddl.MySQL, Table: "orders", By: ddl.Month}
	parts, err := orders.Bounds(november, november.AddDate(0, 2, 0))
	if err != nil {
		fmt.Println(err)
		return
	}
	clause, err := orders.Clause(parts)
	fmt.Println("CREATE TABLE orders (id bigint PRIMARY KEY, note text) " + clause)
	fmt.Println(err)
	// Output:
	// CREATE TABLE orders (id bigint PRIMARY KEY, note text) PARTITION BY RANGE (`id`) (
	//   PARTITION `p202611` VALUES LESS THAN (2127553260549046272),
	//   PARTITION `p202612` VALUES LESS THAN (2138787284382646272))
	// <nil>
}

// What is older than a year goes.
func ExamplePartitioning_Before() {
	orders := ddl.Partitioning{Dialect: ddl.Postgres, Table: "orders", By: ddl.Month}
	have, err := orders.Bounds(november.AddDate(-1, -1, 0), november)
	if err != nil {
		fmt.Println(err)
		return
	}
	old, err := orders.Before(have, november.AddDate(-1, 0, 0))
	if err != nil {
		fmt.Println(err)
		return
	}
	script, err := orders.Drop(old)
	fmt.Print(script)
	fmt.Println(err)
	// Output:
	// ALTER TABLE "orders" DETACH PARTITION "orders_p202510";
	// DROP TABLE "orders_p202510";
	// <nil>
}

func ExamplePartitioning_Detach() {
	orders := ddl.Partitioning{Dialect: ddl.MySQL, Schema: "shop", Table: "orders", By: ddl.Day}
	script, err := orders.Detach([]ddl.Partition{{Name: "p20261101"}})
	fmt.Print(script)
	fmt.Println(err)
	// Output:
	// CREATE TABLE `shop`.`orders_p20261101` LIKE `shop`.`orders`;
	// ALTER TABLE `shop`.`orders_p20261101` REMOVE PARTITIONING;
	// ALTER TABLE `shop`.`orders` EXCHANGE PARTITION `p20261101` WITH TABLE `shop`.`orders_p20261101`;
	// ALTER TABLE `shop`.`orders` DROP PARTITION `p20261101`;
	// <nil>
}

func ExamplePartitioning_Create_sqlite() {
	orders := ddl.Partitioning{Dialect: ddl.SQLite, Table: "orders", By: ddl.Day}
	_, err := orders.Create([]ddl.Partition{{Name: "p1", Min: 1, Max: 2}})
	fmt.Println(err)
	// Output: ddl: SQLite has no partitions: unsupported operation
}

func ExamplePartitioning_Existing() {
	orders := ddl.Partitioning{Dialect: ddl.MySQL, Table: "orders", By: ddl.Day}
	query, err := orders.Existing()
	columns, _, _ := strings.Cut(query, "\n")
	fmt.Println(columns)
	fmt.Println(err)
	// Output:
	// SELECT PARTITION_NAME AS name, LAG(bound) OVER (ORDER BY position) AS min, bound AS max
	// <nil>
}

// The last partition has no end. It is split, and keeps the ids above the new ones.
func ExamplePartitioning_Extend() {
	orders := ddl.Partitioning{Dialect: ddl.MySQL, Table: "orders", By: ddl.Month}
	have := []ddl.Partition{
		{Name: "p202610", Min: math.MinInt64, Max: 2116681624581046272},
		{Name: "pmax", Min: 2116681624581046272, Max: math.MaxInt64},
	}
	script, err := orders.Extend(have, november, november.AddDate(0, 2, 0))
	fmt.Print(script)
	fmt.Println(err)
	// Output:
	// ALTER TABLE `orders` REORGANIZE PARTITION `pmax` INTO (
	//   PARTITION `p202611` VALUES LESS THAN (2127553260549046272),
	//   PARTITION `p202612` VALUES LESS THAN (2138787284382646272),
	//   PARTITION `pmax` VALUES LESS THAN MAXVALUE);
	// <nil>
}

func ExamplePartitioning_Read() {
	db, mock, err := sqlmock.New() // here a server that has one partition
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	mock.ExpectQuery("SELECT").WillReturnRows(sqlmock.NewRows([]string{"name", "min", "max", "schema", "is_default"}).
		AddRow("orders_p202611", int64(2116681624581046272), int64(2127553260549046272), "public", false))

	orders := ddl.Partitioning{Dialect: ddl.Postgres, Table: "orders", By: ddl.Month}
	parts, err := orders.Read(context.Background(), db)
	for _, p := range parts {
		fmt.Println(p.Name, p.From.Format(time.DateOnly), p.To.Format(time.DateOnly))
	}
	fmt.Println(err)
	// Output:
	// orders_p202611 2026-11-01 2026-12-01
	// <nil>
}

func ExamplePartitioning_Drop() {
	orders := ddl.Partitioning{Dialect: ddl.MySQL, Table: "orders", By: ddl.Month}
	script, err := orders.Drop([]ddl.Partition{{Name: "p202509"}, {Name: "p202510"}})
	fmt.Print(script)
	fmt.Println(err)
	// Output:
	// ALTER TABLE `orders` DROP PARTITION `p202509`, `p202510`;
	// <nil>
}

// With pgx, pool.Query and conn.Query return such rows.
func ExamplePartitioning_ReadRows() {
	db, mock, err := sqlmock.New()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	mock.ExpectQuery("SELECT").WillReturnRows(sqlmock.NewRows([]string{"name", "min", "max", "schema", "is_default"}).
		AddRow("orders_p202611", int64(2116681624581046272), int64(2127553260549046272), "archive", false).
		AddRow("orders_rest", nil, nil, nil, true))

	orders := ddl.Partitioning{Dialect: ddl.Postgres, Table: "orders", By: ddl.Month}
	query, err := orders.Existing()
	if err != nil {
		fmt.Println(err)
		return
	}
	rows, err := db.QueryContext(context.Background(), query)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer rows.Close()
	parts, err := orders.ReadRows(rows)
	for _, p := range parts {
		fmt.Println(p.Name, p.Schema, p.To.Format(time.DateOnly), p.Default)
	}
	fmt.Println(err)
	// Output:
	// orders_p202611 archive 2026-12-01 false
	// orders_rest  0001-01-01 true
	// <nil>
}
