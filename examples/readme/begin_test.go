package readme

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/glebarez/sqlite"
	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/sqltype"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// openSQL opens a database of SQLite that lasts as long as a test.
func openSQL(t *testing.T) *sql.DB {
	t.Helper()
	db, err := sql.Open(sqlite.DriverName, "file:"+filepath.Join(t.TempDir(), "shop.sqlite")+"?_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// openGORM opens one with tables of the models.
func openGORM(t *testing.T, models ...any) *gorm.DB {
	t.Helper()
	db, err := gorm.Open(sqlite.Dialector{Conn: openSQL(t)}, &gorm.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.AutoMigrate(models...); err != nil { // the handle has no plugin, and the database no tables
		t.Fatal(err)
	}
	return db
}

func TestInsertNote(t *testing.T) {
	db := openSQL(t)
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE notes (id bigint PRIMARY KEY, text text)"); err != nil {
		t.Fatal(err)
	}
	gen, err := sqlstore.Open(t.Context(), db, worker.Config{})
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
}
