package readme

import (
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	"github.com/glebarez/sqlite"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

func TestMigration(t *testing.T) {
	if p, err := bwmarrin().Decode(1996573624012345677); err != nil || p.Worker > 1023 {
		t.Errorf("%+v, %v", p, err)
	}
	if got := sonyflakeV1(time.UnixMilli(1409529600000).UTC()); got.Epoch.UnixMilli() != core.Sonyflake().Epoch.UnixMilli() {
		t.Errorf("%v", got)
	}
}

func TestBackfillOrders(t *testing.T) {
	db, err := sql.Open(sqlite.DriverName, filepath.Join(t.TempDir(), "shop.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, statement := range []string{
		"CREATE TABLE orders (id INTEGER PRIMARY KEY, created_at datetime)",
		"INSERT INTO orders (created_at) VALUES ('2024-02-29 12:00:00'), ('2023-01-01 00:00:00')",
	} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	result, err := backfillOrders(t.Context(), db)
	if err != nil || result.Rows != 2 {
		t.Fatalf("%+v, %v", result, err)
	}
	var id int64
	if err := db.QueryRow("SELECT id_snowkey FROM orders WHERE id = 1").Scan(&id); err != nil {
		t.Fatal(err)
	}
	if p, err := core.Twitter().Decode(id); err != nil || !p.Time.Equal(time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)) {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestWidenOrders(t *testing.T) {
	db, err := sql.Open("pgx", testserver.Database(t, "pgx", testserver.Postgres(t).DSN))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("CREATE TABLE orders (id serial PRIMARY KEY)"); err != nil {
		t.Fatal(err)
	}
	if err := widenOrders(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("INSERT INTO orders (id) VALUES (1996573624012345677)"); err != nil {
		t.Error(err)
	}
}
