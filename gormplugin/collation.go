package gormplugin

import (
	"fmt"
	"slices"
	"strings"

	"gorm.io/gorm"
)

// collationKey names a table whose collations were checked.
type collationKey struct {
	handle any // the same for all sessions of one gorm.Open
	table  string
}

// checkCollations refuses rows with a base 62 id if the column's collation in MySQL or MariaDB
// ignores case: one id in a few thousand would be refused as a duplicate. It queries the
// database once for each table.
func (p *Plugin) checkCollations(stmt *gorm.Statement, targets []target) error {
	known := collationKey{stmt.Callback(), stmt.Table}
	if stmt.Name() != "mysql" || stmt.DryRun || !slices.ContainsFunc(targets, func(t target) bool { return t.kind == base62 }) {
		return nil
	}
	if _, ok := p.collations.Load(known); ok {
		return nil
	}
	collations, err := columnCollations(stmt.DB)
	if err != nil {
		return fmt.Errorf("which collations its columns have: %w", err)
	}
	for _, t := range targets {
		if c := collations[strings.ToLower(t.column)]; t.kind == base62 && strings.HasSuffix(c, "_ci") {
			return fmt.Errorf("%s: the collation of its column is %q, which takes A for a, and base 62 does not: make the column char(11) CHARACTER SET ascii COLLATE ascii_bin", t.name, c)
		}
	}
	if len(collations) > 0 {
		p.collations.Store(known, true)
	}
	return nil
}

// columnCollations gives the collation of each column of the statement's table, empty for those
// that have none, and nothing for a table that is not there, or is temporary.
func columnCollations(db *gorm.DB) (collations map[string]string, err error) {
	table := db.Statement.Table
	rows, err := ask(db, `SELECT LOWER(COLUMN_NAME), COALESCE(COLLATION_NAME, '') FROM information_schema.COLUMNS
		WHERE TABLE_SCHEMA = COALESCE(?, DATABASE()) AND TABLE_NAME = ?`, schemaName(table), bareName(table))
	if err != nil {
		return nil, err
	}
	defer func() {
		if e := rows.Close(); err == nil {
			err = e
		}
	}()
	collations = map[string]string{}
	for rows.Next() {
		var column, collation string
		if err := rows.Scan(&column, &collation); err != nil {
			return nil, err
		}
		collations[column] = collation
	}
	return collations, rows.Err()
}
