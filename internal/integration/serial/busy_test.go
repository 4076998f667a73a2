package serial

import (
	"path/filepath"
	"testing"

	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// A reader blocks the COMMIT of SQLite: the row is written, and then the commit fails. The
// numbers are not handed out.
func TestCommitFails(t *testing.T) {
	file := "file:" + filepath.Join(t.TempDir(), "x.sqlite") + "?_pragma=journal_mode(delete)&_pragma=busy_timeout(1)"
	store := mustNew(sqlstore.New(open(t, "sqlite", file), sqlstore.Config{}))
	if first, err := store.Reserve(t.Context(), "a", 10); err != nil || first != 1 {
		t.Fatal(first, err)
	}
	reading, err := open(t, "sqlite", file).Query("SELECT value FROM snow_counter UNION ALL SELECT 1 UNION ALL SELECT 2")
	must(t, err)
	defer reading.Close()
	if !reading.Next() {
		t.Fatal(reading.Err())
	}
	if first, err := store.Reserve(t.Context(), "a", 10); err == nil || first != 0 {
		t.Errorf("%d, %v while the file cannot be written", first, err)
	}
	must(t, reading.Close())
	if first, err := store.Reserve(t.Context(), "a", 10); err != nil || first != 11 {
		t.Errorf("%d, %v", first, err)
	}
}
