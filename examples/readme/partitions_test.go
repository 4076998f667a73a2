package readme

import (
	"context"
	"database/sql"
	"sync"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/ddl"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// Ten replicas wake at midnight. None sees an error, and no partition is missing or there twice.
func TestNextPartitions(t *testing.T) {
	db, err := sql.Open("pgx", testserver.Database(t, "pgx", testserver.Postgres(t).DSN))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	orders := ddl.Partitioning{Dialect: ddl.Postgres, Table: "orders", By: ddl.Month}
	if _, err := db.Exec("CREATE TABLE orders (id bigint PRIMARY KEY) PARTITION BY RANGE (id)"); err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	for month := range 2 {
		var all sync.WaitGroup
		for i := range 10 { // their clocks do not agree on the hour
			at := now.AddDate(0, month, 0).Add(time.Duration(i) * time.Hour)
			all.Go(func() {
				if err := nextPartitions(context.Background(), db, orders, at); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	}
	have, err := orders.Read(t.Context(), db)
	if err != nil || len(have) != 5 { // from November to March
		t.Errorf("%d partitions: %v, %v", len(have), have, err)
	}
}
