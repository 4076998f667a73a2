package pgxload_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/seed-299c1d6b/snowkey/pgxtype/pgxload"
)

// A constraint that is checked at COMMIT names the table as PostgreSQL does, by Load and by Retry, and
// always the key.
func TestLoadDeferred(t *testing.T) {
	const key = "Key (ref)=(9) is not present"
	s := newShop(t, pgx.QueryExecModeCacheStatement, true, `create table plain (id bigint primary key, ref bigint references plain deferrable initially deferred);
		create table parts (id bigint primary key, ref bigint references plain deferrable initially deferred) partition by range (id);
		create table part1 partition of parts for values from (1) to (100)`)
	other := strings.Replace(s.schema, "shop", "other", 1)
	s.exec(t, `create schema `+other+` create table items (id bigint primary key, ref bigint references items deferrable initially deferred)`)
	t.Cleanup(func() {
		if _, err := s.pool.Exec(context.Background(), `drop schema `+other+` cascade`); err != nil {
			t.Error(err)
		}
	})
	check := func(by string, err error, table string) {
		t.Helper()
		if at := at(err); at.Table != table || at.Row != -1 || strings.Count(err.Error(), key) != 1 {
			t.Errorf("%s: %v; want table %s", by, err, table)
		}
		for _, table := range []string{"plain", "parts", other + ".items"} {
			if n := s.ask(t, `select count(*) from `+table); n != 0 {
				t.Errorf("%s: %d rows stayed in %s", by, n, table)
			}
		}
	}
	for name, method := range methods {
		for table, want := range map[string]string{"plain": "plain", other + ".items": "items", "parts": "part1"} {
			load := func(db pgxload.Beginner) error {
				_, err := pgxload.LoadWith(t.Context(), db, pgxload.Config{Method: method}, writeRows(table, "id ref", row{1, nil}, row{2, 9}))
				return err
			}
			check(name+", Load", load(s.pool), want)
			check(name+", Retry", pgxload.Retry(t.Context(), s.pool, func(tx pgx.Tx) error { return load(tx) }), want)
			// In a transaction, the load succeeds, and the caller's COMMIT has the error.
			tx := s.begin(t)
			if err := load(tx); err != nil {
				t.Error(err)
			}
			if err := tx.Commit(t.Context()); err == nil || errors.As(err, new(*pgxload.LoadError)) {
				t.Errorf("%s: COMMIT: %v", name, err)
			}
		}
	}
}
