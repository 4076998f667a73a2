package worker

import (
	"context"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// documented returns the statement of docs/operations.md for the dialect.
func documented(t *testing.T, d sqlstore.Dialect) string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/operations.md")
	must(t, err)
	name := map[sqlstore.Dialect]string{sqlstore.Postgres: "PostgreSQL", sqlstore.MySQL: "MySQL, MariaDB", sqlstore.SQLite: "SQLite"}[d]
	found := regexp.MustCompile(`(?s)-- ` + name + `\n(.*?);`).FindSubmatch(text)
	if found == nil {
		t.Fatalf("docs/operations.md has no statement for %s", name)
	}
	return strings.TrimSpace(string(found[1]))
}

// After the statement the old holder is refused, and the next one begins above all ids that the
// old one may have issued.
func TestRestore(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		db := e.open(t)
		store := e.store(t)
		before, err := worker.Open(t.Context(), store, worker.Config{
			Preferred: ref(int64(7)), StopOnLoss: true, // and takes no other number
			Timeout: patience, ClaimWait: patience,
		})
		must(t, err)
		defer before.Close(context.Background())
		bound := before.Stats().Fence

		// As in an older backup.
		if _, err := db.ExecContext(t.Context(), "UPDATE snow_worker SET until_ts = 1, epoch = 1"); err != nil {
			t.Fatal(err)
		}
		if _, err := db.ExecContext(t.Context(), documented(t, e.dialect)); err != nil {
			t.Fatal(err)
		}
		rows, err := store.List(t.Context(), "default")
		if err != nil || len(rows) != 1 || rows[0].ClaimID != "" || rows[0].FencingToken != 2 {
			t.Fatalf("%+v, %v", rows, err)
		}
		next, err := worker.Open(t.Context(), store, worker.Config{Preferred: ref(int64(7)), RequirePreferred: true, Timeout: patience, ClaimWait: patience})
		must(t, err)
		defer next.Close(context.Background())
		id, err := next.Next(t.Context())
		must(t, err)
		parts, err := next.Layout().Decode(id)
		if err != nil || parts.Time.Before(bound) || parts.Time.After(time.Now().Add(time.Minute)) {
			t.Errorf("begins at %v, and the bound was %v (%v)", parts.Time, bound, err)
		}
		row := rows[0]
		if err := store.Renew(t.Context(), driver.Renewal{Namespace: "default", Worker: 7, FencingToken: 1, ClaimID: "of a holder before", Fence: row.Fence + 1, TTL: 1000}); !errors.Is(err, driver.ErrNotHeld) {
			t.Errorf("a holder from before may renew: %v", err)
		}
	})
}

// ref returns a pointer to a value.
func ref[T any](v T) *T { return &v }
