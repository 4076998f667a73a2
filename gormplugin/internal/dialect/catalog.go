package dialect

import (
	"database/sql"
	"errors"
	"time"

	"gorm.io/gorm"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/keys"
)

// Query sends a query over the statement's own connection, or the pool that rows are written
// to. With gorm.io/plugin/dbresolver, gorm's callbacks would send a SELECT to a replica, which
// may lag behind.
func Query(db *gorm.DB, query string, args ...any) (*sql.Rows, error) {
	ctx, began := db.Statement.Context, time.Now()
	rows, err := db.Statement.ConnPool.QueryContext(ctx, query, args...)
	db.Logger.Trace(ctx, began, func() (string, int64) { return db.Explain(query, args...), -1 }, err)
	return rows, err
}

// scan reads each row of a query into the variables that row points to, and then calls read.
func scan(db *gorm.DB, query string, args, row []any, read func()) (err error) {
	rows, err := Query(db, query, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := rows.Scan(row...); err != nil {
			return err
		}
		read()
	}
	return rows.Err()
}

// Collations returns the collation of each column of the statement's table on MySQL and
// MariaDB, empty for a column without one. It returns nothing for a table that does not exist
// or is temporary.
func Collations(db *gorm.DB) (map[string]string, error) {
	schema, table := keys.TableOf(db.Statement.Table)
	collations := map[string]string{}
	var column, collation string
	err := scan(db, `SELECT LOWER(COLUMN_NAME), COALESCE(COLLATION_NAME, '') FROM information_schema.COLUMNS
		WHERE TABLE_SCHEMA = COALESCE(?, DATABASE()) AND TABLE_NAME = ?`, []any{schema, table},
		[]any{&column, &collation}, func() { collations[column] = collation })
	return collations, err
}

// Index is a unique index of a table.
type Index struct {
	Name, Where string
	Columns     []string // empty for one that is computed, or a part of a column
}

// UniqueIndexes returns the unique indexes of the statement's table, the primary key excepted.
// The conditions of partial indexes are not known on SQLite, which has them only within a text;
// their columns are then empty.
func UniqueIndexes(db *gorm.DB) (indexes []Index, err error) {
	query, args := uniqueQuery(db)
	if query == "" {
		return nil, nil
	}
	var name, where, column string
	err = scan(db, query, args, []any{&name, &where, &column}, func() {
		if n := len(indexes); n == 0 || indexes[n-1].Name != name {
			indexes = append(indexes, Index{Name: name, Where: where})
		}
		last := &indexes[len(indexes)-1]
		last.Columns = append(last.Columns, column)
	})
	return indexes, err
}

// uniqueQuery returns a query for the name of each unique index, its condition, and its columns
// one by one.
func uniqueQuery(db *gorm.DB) (query string, args []any) {
	schema, table := keys.TableOf(db.Statement.Table)
	switch db.Name() {
	case "postgres":
		return `SELECT i.indexrelid::text, COALESCE(pg_get_expr(i.indpred, i.indrelid), ''), COALESCE(a.attname::text, '')
			FROM pg_index i CROSS JOIN LATERAL generate_series(0, i.indnkeyatts - 1) AS n
			LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[n] AND a.attnum > 0
			WHERE i.indrelid = to_regclass($1) AND i.indisunique AND NOT i.indisprimary ORDER BY 1, n`, []any{db.Statement.Quote(db.Statement.Table)}
	case "mysql":
		return `SELECT INDEX_NAME, '', IF(SUB_PART IS NULL, COALESCE(COLUMN_NAME, ''), '') FROM information_schema.STATISTICS
			WHERE TABLE_SCHEMA = COALESCE(?, DATABASE()) AND TABLE_NAME = ? AND NON_UNIQUE = 0 AND INDEX_NAME <> 'PRIMARY'
			ORDER BY INDEX_NAME, SEQ_IN_INDEX`, []any{schema, table}
	case "sqlite":
		return `SELECT l.name, '', CASE WHEN l.partial THEN '' ELSE COALESCE(c.name, '') END
			FROM pragma_index_list(?) l JOIN pragma_index_xinfo(l.name) c
			WHERE l."unique" AND l.origin <> 'pk' AND c.key ORDER BY l.name, c.seqno`, []any{table}
	}
	return "", nil
}
