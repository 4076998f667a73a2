package readme

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

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

// The README's first program prints what the README says, but for the ids.
func TestBegin(t *testing.T) {
	dsn, remove := file()
	defer remove()
	db, err := gorm.Open(sqlite.Open(dsn), &gorm.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.AutoMigrate(&Note{}); err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	stdout := os.Stdout
	os.Stdout = out
	err = serve(t.Context(), db)
	os.Stdout = stdout
	if err != nil {
		t.Fatal(err)
	}
	printed, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	ids := regexp.MustCompile(`\d{19}`)
	want := ""
	for _, b := range blocks(t, "README.md") {
		if b.language == "" {
			want = ids.ReplaceAllString(b.code, "ID")
			break
		}
	}
	if got := ids.ReplaceAllString(string(printed), "ID"); want == "" || got != want {
		t.Errorf("printed %q, the README has %q", got, want)
	}
}

func TestInsertNote(t *testing.T) {
	dsn, remove := file()
	defer remove()
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE notes (id bigint PRIMARY KEY, text text)"); err != nil {
		t.Fatal(err)
	}
	gen, err := openOrders(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	defer gen.Close(t.Context())
	id, err := insertNote(t.Context(), db, gen)
	if err != nil {
		t.Fatal(err)
	}
	var stored sqltype.ID
	if err := db.QueryRowContext(t.Context(), "SELECT id FROM notes WHERE text = 'first'").Scan(&stored); err != nil || stored != id {
		t.Errorf("%d, %v, want %d", stored, err, id)
	}
	if left := gen.Stats().Left; left <= time.Minute-time.Second {
		t.Errorf("ids continue for %v", left)
	}
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
		stats := gen.Stats()
		fmt.Println(ids[0] > id, err, errFill)
		fmt.Printf("namespace %q, worker ID %d, %s, %d issued, failing: %v\n", stats.Namespace, stats.Worker, stats.State, gen.Stats().Issued, gen.Failing())
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
	if err != nil || sqltype.ID(id) <= 0 || gen.Stats().Namespace != "default" {
		t.Errorf("%d, %v", id, err)
	}
	if err := gen.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
