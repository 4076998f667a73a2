package orms

import (
	"database/sql"
	"testing"

	"github.com/Masterminds/squirrel"
	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// docs/recipes.md shows what is in the files recipe_*_test.go.

// put is an upsert by the number, without the values.
func put(kind string) string {
	if kind == "mysql" {
		return "ON DUPLICATE KEY UPDATE customer = VALUES(customer)"
	}
	return "ON CONFLICT (number) DO UPDATE SET customer = excluded.customer"
}

func scanLists(rows *sql.Rows) (lists [][]sqltype.ID, err error) {
	defer rows.Close()
	for rows.Next() {
		var ids []sqltype.ID
		if err := rows.Scan(pq.Array(&ids)); err != nil {
			return nil, err
		}
		lists = append(lists, ids)
	}
	return lists, rows.Err()
}

func openSqlx(t *testing.T, db database, src source) store {
	db.tables(t)
	driver := map[string]string{"postgres": "pgx", "mysql": "mysql", "sqlite": "sqlite"}[db.kind]
	return sqlxStore{sqlx.NewDb(db.pool, driver), src, db.kind}
}

func openSquirrel(t *testing.T, db database, src source) store {
	db.tables(t)
	builder := squirrel.StatementBuilder
	if db.kind == "postgres" {
		builder = builder.PlaceholderFormat(squirrel.Dollar)
	}
	return squirrelStore{db.pool, builder, src, db.kind}
}
