package ddl_test

import (
	"context"
	"fmt"
	"time"

	"github.com/DATA-DOG/go-sqlmock"

	"github.com/seed-299c1d6b/snowkey/ddl"
)

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

// With pgx, rows are those of pool.Query or conn.Query.
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
