package orms

import (
	"database/sql"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

func ptr[T any](v T) *T { return &v }

// The documents have the results of this test, on PostgreSQL. To update the table, copy the
// lines of the failure.
func TestDocumentedLibraries(t *testing.T) {
	t.Run("ID", func(t *testing.T) {
		testLibraries(t, func(id ID) NullID { return NullID{ID: id, Valid: true} })
	})
	t.Run("Key", func(t *testing.T) {
		testLibraries(t, func(key Key) NullKey { return NullKey{Key: key, Valid: true} })
	})
}

func testLibraries[K ~int64, N any](t *testing.T, valid func(K) N) {
	type aRow = row[K, N]
	var null N
	dsn := testserver.Database(t, "postgres", testserver.Postgres(t).DSN)
	pool, err := sql.Open("postgres", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pool.Close() })
	run := func(query string) {
		t.Helper()
		if _, err := pool.ExecContext(t.Context(), query); err != nil {
			t.Fatal(err)
		}
	}
	columns := func(create func() error) string {
		run(`DROP TABLE IF EXISTS rows`)
		if create == nil {
			return "–"
		}
		if err := create(); err != nil {
			return err.Error()
		}
		var types string
		err := pool.QueryRowContext(t.Context(), `SELECT string_agg(data_type, ', ' ORDER BY array_position('{id,null_id,ptr}', column_name::text))
			FROM information_schema.columns WHERE table_schema = 'public' AND table_name = 'rows'`).Scan(&types)
		if err != nil {
			t.Fatal(err)
		}
		return types
	}
	text, err := os.ReadFile("../../../docs/encoders.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range libraries[K, N](t, pool, dsn) {
		t.Run(l.name, func(t *testing.T) {
			made := columns(l.create)
			if types := columns(l.tagged); l.tagged != nil && types != "bigint, bigint, bigint" {
				t.Errorf("with the tag it makes %s", types)
			}
			run(`DROP TABLE IF EXISTS rows`)
			run(`CREATE TABLE rows (id bigint PRIMARY KEY, null_id bigint, ptr bigint)`)
			want := []aRow{{ID: 1}, {7, valid(8), ptr(K(9))}}
			if err := l.insert(want...); err != nil {
				t.Fatal(err)
			}
			var stored string
			if err := pool.QueryRowContext(t.Context(), `SELECT string_agg(rows::text, ' ' ORDER BY id) FROM rows`).Scan(&stored); err != nil || stored != "(1,,) (7,8,9)" {
				t.Errorf("stored %s, %v", stored, err)
			}
			if got, err := l.all(); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("read %+v, %v", got, err)
			}
			cells := []string{l.name, made, "–", "–"}
			if l.find != nil {
				for _, q := range []struct {
					column string
					v      any
				}{{"id", K(7)}, {"id", ptr(K(7))}, {"null_id", valid(8)}, {"ptr", K(9)}, {"id", []K{7, 8}}} {
					if got, err := l.find(q.column, q.v); err != nil || !reflect.DeepEqual(got, want[1:]) {
						t.Errorf("%s, %T: %+v, %v", q.column, q.v, got, err)
					}
				}
				for i, v := range []any{null, (*K)(nil)} {
					got, err := caught(func() ([]aRow, error) { return l.find("null_id", v) })
					switch {
					case err != nil && strings.HasPrefix(err.Error(), "panics"):
						cells[2+i] = "panics"
					case err != nil:
						cells[2+i] = "error"
					case slices.EqualFunc(got, want[:1], func(a, b aRow) bool { return a.ID == b.ID }):
						cells[2+i] = "`IS NULL`"
					case len(got) == 0:
						cells[2+i] = "`= NULL`"
					default:
						cells[2+i] = fmt.Sprint(got)
					}
				}
				if got, err := l.find("id", K(-5)); err == nil {
					t.Errorf("-5 in a condition: %v", got)
				}
			}
			for _, r := range []aRow{{ID: -5}, {ID: 2, NullID: valid(-5)}, {ID: 2, Ptr: ptr(K(-5))}} {
				if err := l.insert(r); err == nil {
					t.Errorf("%v was written", r)
				}
			}
			if line := "| " + strings.Join(cells, " | ") + " |"; !strings.Contains(string(text), "\n"+line) {
				t.Errorf("docs/encoders.md has no line that begins so:\n%s", line)
			}
			run(`DROP TABLE rows`)
			run(`CREATE TABLE rows (id bigint, null_id bigint, ptr bigint)`)
			run(`INSERT INTO rows VALUES (7, -5, NULL)`)
			if got, err := l.all(); err == nil {
				t.Errorf("-5 was read: %v", got)
			}
		})
	}
}
