package serial

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/seed-299c1d6b/snowkey/internal/integration/engines"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// At the end of 64 bits a counter stops with an error.
func TestOverflow(t *testing.T) {
	onEvery(t, func(t *testing.T, e engine) {
		key, c := code(), e.counter(t)
		if _, err := c.Reserve(t.Context(), key, 1); err != nil {
			t.Fatal(err)
		}
		if e.behind != nil {
			e = *e.behind
		}
		switch near := fmt.Sprint(int64(math.MaxInt64 - 5)); e.driver {
		case "redis":
			must(t, client(t, e.dsn).Set(t.Context(), "snowkey:counter:{"+key+"}", near, 0).Err())
		case "etcd":
			client, err := clientv3.New(clientv3.Config{Endpoints: strings.Split(e.dsn, ",")})
			must(t, err)
			defer client.Close()
			_, err = client.Put(t.Context(), "snowkey#counter#"+key, near)
			must(t, err)
		default:
			_, err := openCommitting(t, e).Exec("UPDATE snow_counter SET value = " + near + " WHERE name = '" + key + "'")
			must(t, err)
		}
		for range 2 {
			if first, err := c.Reserve(t.Context(), key, 6); err == nil {
				t.Errorf("%d", first)
			}
		}
		if first, err := c.Reserve(t.Context(), key, 5); err != nil || first != math.MaxInt64-4 {
			t.Errorf("%d, %v", first, err)
		}
		if first, err := c.Reserve(t.Context(), key, 1); err == nil {
			t.Errorf("%d", first)
		}
	})
}

// A store that may lose an acknowledged write is refused.
func TestLossy(t *testing.T) {
	var lossy *worker.DurabilityError
	memory := open(t, "sqlite", ":memory:")
	memory.SetMaxOpenConns(1)
	fresh := func() *sqlstore.Store { return engines.MustNew(sqlstore.New(memory, sqlstore.Config{})) }
	if first, err := fresh().Reserve(t.Context(), "a", 1); !errors.As(err, &lossy) || first != 0 {
		t.Errorf("%d, %v", first, err)
	}
	if err := fresh().PrepareCounters(t.Context()); !errors.As(err, &lossy) {
		t.Error(err)
	}
}

// A reader blocks the COMMIT of SQLite: the row is written, and then the commit fails. The
// numbers are not handed out.
func TestCommitFails(t *testing.T) {
	file := "file:" + filepath.Join(t.TempDir(), "x.sqlite") + "?_pragma=journal_mode(delete)&_pragma=busy_timeout(1)"
	store := engines.MustNew(sqlstore.New(open(t, "sqlite", file), sqlstore.Config{}))
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
