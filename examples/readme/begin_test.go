package readme

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/glebarez/sqlite"
	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// file is a database of SQLite that lasts as long as an example.
func file() (dsn string, remove func()) {
	dir, err := os.MkdirTemp("", "snowkey")
	if err != nil {
		panic(err)
	}
	return "file:" + filepath.Join(dir, "shop.sqlite") + "?_pragma=busy_timeout(10000)", func() { _ = os.RemoveAll(dir) }
}

// The README's first lines: rows by gorm.
func Example_begin() {
	dsn, remove := file()
	defer remove()
	db, err := gorm.Open(sqlite.Open(dsn), &gorm.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := db.AutoMigrate(&Note{}); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(serve(context.Background(), db))
	var notes []Note
	err = db.Find(&notes).Error
	fmt.Println(len(notes), notes[0].ID > 1<<50, err)
	// Output:
	// <nil>
	// 1 true <nil>
}

// Two replicas have different worker IDs, and each can be watched.
func Example_beginSQL() {
	dsn, remove := file()
	defer remove()
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	ctx := context.Background()
	for range 2 {
		gen, err := withSQL(ctx, db)
		if err != nil {
			fmt.Println(err)
			return
		}
		defer gen.Close(ctx)
		id, err := gen.Next(ctx)
		ids := make([]int64, 3)
		errFill := gen.Fill(ctx, ids)
		stats := gen.Lease().Stats()
		fmt.Println(ids[0] > id, err, errFill)
		fmt.Printf("namespace %q, worker ID %d, %s, %d issued, failing: %v\n", stats.Namespace, stats.Worker, stats.State, gen.Generator().Stats().Issued, gen.Failing())
	}
	// Output:
	// true <nil> <nil>
	// namespace "default", worker ID 0, held, 4 issued, failing: <nil>
	// true <nil> <nil>
	// namespace "default", worker ID 1, held, 4 issued, failing: <nil>
}

// The server is set as in production: Open refuses one that does not sync, as those of the tests.
func TestBeginPgx(t *testing.T) {
	server := testserver.New(t, testserver.KindPostgres, "-c", "fsync=on", "-c", "synchronous_commit=on")
	pool, err := connect(t.Context(), server.DSN)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	gen, err := withPgx(t.Context(), pool)
	if err != nil {
		t.Fatal(err)
	}
	id, err := gen.Next(t.Context())
	if err != nil || sqltype.ID(id) <= 0 || gen.Lease().Stats().Namespace != "default" {
		t.Errorf("%d, %v", id, err)
	}
	if err := gen.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
