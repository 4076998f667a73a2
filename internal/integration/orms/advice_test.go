package orms

import (
	"database/sql"
	"reflect"
	"testing"

	"github.com/Masterminds/squirrel"
	"github.com/doug-martin/goqu/v9"
	"github.com/lib/pq"
	"github.com/upper/db/v4"
	"github.com/upper/db/v4/adapter/postgresql"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// The last column of the table: what to do instead.
func TestAdvice(t *testing.T) {
	pool, err := sql.Open("postgres", testserver.Database(t, "postgres", testserver.Postgres(t).DSN))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pool.Close() })
	for _, query := range []string{`CREATE TABLE rows (id bigint PRIMARY KEY, null_id bigint, ptr bigint)`, `INSERT INTO rows VALUES (1, NULL, NULL), (7, 8, 9)`} {
		if _, err := pool.ExecContext(t.Context(), query); err != nil {
			t.Fatal(err)
		}
	}
	u, err := postgresql.New(pool)
	if err != nil {
		t.Fatal(err)
	}
	type aRow = row[ID, NullID]
	var rows []aRow
	if err := u.Collection("rows").Find(db.Cond{"null_id IS": nil}).All(&rows); err != nil || !reflect.DeepEqual(rows, []aRow{{ID: 1}}) {
		t.Errorf("upper/db: %v, %v", rows, err)
	}
	rows = nil
	if err := goqu.New("postgres", pool).From("rows").Where(goqu.C("null_id").IsNull()).ScanStructsContext(t.Context(), &rows); err != nil || !reflect.DeepEqual(rows, []aRow{{ID: 1}}) {
		t.Errorf("goqu: %v, %v", rows, err)
	}
	if query, args, err := squirrel.Select("*").From("rows").Where(squirrel.Eq{"null_id": nil}).ToSql(); err != nil || query != "SELECT * FROM rows WHERE null_id IS NULL" {
		t.Errorf("squirrel: %s, %v, %v", query, args, err)
	}
	var ids []ID
	var nulls []NullID
	err = pool.QueryRowContext(t.Context(), `SELECT array_agg(id ORDER BY id), array_agg(null_id ORDER BY id) FROM rows`).Scan(pq.Array(&ids), pq.Array(&nulls))
	if err != nil || !reflect.DeepEqual(ids, []ID{1, 7}) || !reflect.DeepEqual(nulls, []NullID{{}, {ID: 8, Valid: true}}) {
		t.Errorf("lib/pq: %v, %v, %v", ids, nulls, err)
	}
}
