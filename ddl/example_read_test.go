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
