package readme

import (
	"database/sql"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver pgx

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// The first time it makes four months, and then nothing.
func TestNextPartitions(t *testing.T) {
	db, err := sql.Open("pgx", testserver.Postgres(t).DSN)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, statement := range []string{"CREATE SCHEMA partitions", "SET search_path = partitions", "CREATE TABLE orders (id bigint PRIMARY KEY) PARTITION BY RANGE (id)"} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	defer func() {
		if _, err := db.Exec("DROP SCHEMA partitions CASCADE"); err != nil {
			t.Error(err)
		}
	}()
	for range 2 {
		if err := nextPartitions(t.Context(), db, time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)); err != nil {
			t.Fatal(err)
		}
		var n int
		if err := db.QueryRow("SELECT count(*) FROM pg_inherits WHERE inhparent = 'orders'::regclass").Scan(&n); err != nil || n != 4 {
			t.Errorf("%d partitions, %v", n, err)
		}
	}
}
