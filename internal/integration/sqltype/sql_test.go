package sqltype

import (
	"database/sql"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/internal/databases"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// plain is database/sql alone on a fresh database, with its placeholders.
func plain(t *testing.T, d databases.Database) (db *sql.DB, query func(string) string) {
	t.Helper()
	db, err := databases.Handle(t, d).DB()
	if err != nil {
		t.Fatal(err)
	}
	return db, func(q string) string {
		if d.Name != "postgres" {
			return q
		}
		for n := 1; strings.Contains(q, "?"); n++ {
			q = strings.Replace(q, "?", fmt.Sprintf("$%d", n), 1)
		}
		return q
	}
}

// Every type that can hold an id, through a real driver and back.
func TestDatabaseSQL(t *testing.T) {
	databases.OnEvery(t, func(t *testing.T, d databases.Database) {
		db, q := plain(t, d)
		ctx := t.Context()
		if _, err := db.ExecContext(ctx, "CREATE TABLE ids (id BIGINT PRIMARY KEY, parent BIGINT NULL, txt VARCHAR(40))"); err != nil {
			t.Fatal(err)
		}
		fresh, err := sqltype.NextID(ctx, databases.Generator(t, 1))
		if err != nil {
			t.Fatal(err)
		}
		for i, parent := range []any{
			sqltype.NullID{ID: fresh, Valid: true}, &fresh, sql.Null[sqltype.ID]{V: fresh, Valid: true}, fresh,
			sqltype.NullID{}, (*sqltype.ID)(nil), sql.Null[sqltype.ID]{}, nil,
		} {
			t.Run(fmt.Sprintf("%d %T", i, parent), func(t *testing.T) {
				null := i >= 4
				id := sqltype.ID(math.MaxInt64 - int64(i))
				if i == 0 {
					id = fresh
				}
				if _, err := db.ExecContext(ctx, q("INSERT INTO ids (id, parent, txt) VALUES (?, ?, ?)"), id, parent, id.String()); err != nil {
					t.Fatalf("%T: %v", parent, err)
				}
				var key, text sqltype.ID
				var asNull sqltype.NullID
				var asPtr *sqltype.ID
				var asSQL sql.Null[sqltype.ID]
				err := db.QueryRowContext(ctx, q("SELECT id, txt, parent, parent, parent FROM ids WHERE id = ?"), id).Scan(&key, &text, &asNull, &asPtr, &asSQL)
				if err != nil || key != id || text != id {
					t.Errorf("%T: %d and %d, want %d; %v", parent, key, text, id, err)
				}
				if null && (asNull.Valid || asPtr != nil || asSQL.Valid) ||
					!null && (asNull != sqltype.NullID{ID: fresh, Valid: true} || asPtr == nil || *asPtr != fresh || asSQL.V != fresh) {
					t.Errorf("%T: %v, %v, %v", parent, asNull, asPtr, asSQL)
				}
				untouched := sqltype.ID(42)
				err = db.QueryRowContext(ctx, q("SELECT parent FROM ids WHERE id = ?"), id).Scan(&untouched)
				if null && (!errors.Is(err, sqltype.ErrNull) || !strings.Contains(err.Error(), "parent") || untouched != 42) {
					t.Errorf("NULL into an ID: %d, %v", untouched, err)
				}
			})
		}
		count := func() (n int) {
			if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM ids").Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		before := count()
		if _, err := db.ExecContext(ctx, q("INSERT INTO ids (id) VALUES (?)"), sqltype.ID(-7)); !errors.Is(err, sqltype.ErrNegative) || count() != before {
			t.Errorf("a negative id was written, or not refused: %v", err)
		}
		if d.Name == "mysql" { // whose driver gives a uint64 for them
			for expr, want := range map[string]error{"18446744073709551615": sqltype.ErrRange, "9223372036854775808": sqltype.ErrRange, "9223372036854775807": nil} {
				var id sqltype.ID
				err := db.QueryRowContext(ctx, "SELECT CAST("+expr+" AS UNSIGNED)").Scan(&id)
				if !errors.Is(err, want) || want == nil && id != math.MaxInt64 {
					t.Errorf("unsigned %s: %d, %v", expr, id, err)
				}
			}
		}
	})
}
