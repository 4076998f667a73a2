package gormplugin

import (
	"fmt"
	"reflect"
	"slices"
	"sync"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// unique is a set of columns by which a row may collide with another, the key excepted.
type unique struct {
	fields []*schema.Field
	where  []clause.Expression // of a partial index: which rows it is of
}

// uniqueCache keeps, for each schema, what its tags declare unique.
type uniqueCache struct{ bySchema sync.Map }

func (p *Plugin) uniques(db *gorm.DB, s *schema.Schema) ([]unique, error) {
	if known, ok := p.unique.bySchema.Load(s); ok {
		return known.([]unique), nil
	}
	sets, err := declaredUniques(db, s)
	if err != nil {
		return nil, err
	}
	p.unique.bySchema.Store(s, sets)
	return sets, nil
}

// declaredUniques gives indexes of all rows first: by those a row is found for certain.
func declaredUniques(db *gorm.DB, s *schema.Schema) (sets []unique, err error) {
	for _, f := range s.Fields {
		if f.Unique && !f.PrimaryKey && f.DBName != "" {
			sets = append(sets, unique{fields: []*schema.Field{f}})
		}
	}
	if s.ModelType.Name() == "" {
		return sets, nil // a join table that gorm made
	}
	// ParseIndexes writes to the schema, which others may be reading: it gets one of its own.
	own, err := schema.Parse(reflect.New(s.ModelType).Interface(), new(sync.Map), db.NamingStrategy)
	if err != nil {
		return nil, fmt.Errorf("gormplugin: %s: %w", s.Name, err)
	}
	var partial []unique
	for _, index := range own.ParseIndexes() {
		if index.Class != "UNIQUE" {
			continue
		}
		var columns []string
		for _, option := range index.Fields {
			if option.Expression != "" {
				columns = nil
				break
			}
			columns = append(columns, option.DBName)
		}
		switch u, ok := uniqueOf(s, columns, index.Where); {
		case ok && index.Where != "":
			partial = append(partial, u)
		case ok:
			sets = append(sets, u)
		}
	}
	return append(sets, partial...), nil
}

// uniqueOf is not ok where a column is no field of the model: its value is not known.
func uniqueOf(s *schema.Schema, columns []string, where string) (u unique, ok bool) {
	for _, column := range columns {
		f := s.FieldsByDBName[column]
		if f == nil {
			return unique{}, false
		}
		u.fields = append(u.fields, f)
	}
	if where != "" {
		u.where = []clause.Expression{clause.Expr{SQL: where}}
	}
	return u, len(columns) > 0
}

// tableUniques asks the database which unique indexes the table has, those excepted that
// are known already. What an index computes, and parts of a column, are left out.
func tableUniques(db *gorm.DB, known []unique) (sets []unique, err error) {
	stmt := db.Statement
	query, args := catalogQuery(db)
	if query == "" {
		return nil, nil
	}
	rows, err := ask(db, query, args...)
	if err != nil {
		return nil, fmt.Errorf("which unique indexes it has: %w", err)
	}
	defer func() {
		if e := rows.Close(); err == nil {
			err = e
		}
	}()
	var name, where string
	var columns []string
	add := func() {
		u, ok := uniqueOf(stmt.Schema, columns, where)
		if ok && (len(u.where) > 0 || !slices.ContainsFunc(known, func(k unique) bool { return len(k.where) == 0 && slices.Equal(k.fields, u.fields) })) {
			sets = append(sets, u)
		}
	}
	for rows.Next() {
		var index, condition, column string
		if err := rows.Scan(&index, &condition, &column); err != nil {
			return nil, err
		}
		if index != name {
			add()
			name, where, columns = index, condition, nil
		}
		columns = append(columns, column)
	}
	add()
	slices.SortStableFunc(sets, func(a, b unique) int { return len(a.where) - len(b.where) })
	return sets, rows.Err()
}

// catalogQuery gives the name of each unique index, its condition, and its columns one by
// one, empty where one is computed. A partial index of SQLite counts only if a tag tells
// its condition: SQLite shows it within a text alone.
func catalogQuery(db *gorm.DB) (query string, args []any) {
	table := db.Statement.Table
	switch db.Name() {
	case "postgres":
		return `SELECT i.indexrelid::text, COALESCE(pg_get_expr(i.indpred, i.indrelid), ''), COALESCE(a.attname::text, '')
			FROM pg_index i CROSS JOIN LATERAL generate_series(0, i.indnkeyatts - 1) AS n
			LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[n] AND a.attnum > 0
			WHERE i.indrelid = to_regclass($1) AND i.indisunique AND NOT i.indisprimary ORDER BY 1, n`, []any{db.Statement.Quote(table)}
	case "mysql":
		return `SELECT INDEX_NAME, '', IF(SUB_PART IS NULL, COALESCE(COLUMN_NAME, ''), '') FROM information_schema.STATISTICS
			WHERE TABLE_SCHEMA = COALESCE(?, DATABASE()) AND TABLE_NAME = ? AND NON_UNIQUE = 0 AND INDEX_NAME <> 'PRIMARY'
			ORDER BY INDEX_NAME, SEQ_IN_INDEX`, []any{schemaName(table), bareName(table)}
	case "sqlite":
		return `SELECT l.name, '', CASE WHEN l.partial THEN '' ELSE COALESCE(c.name, '') END
			FROM pragma_index_list(?) l JOIN pragma_index_xinfo(l.name) c
			WHERE l."unique" AND l.origin <> 'pk' AND c.key ORDER BY l.name, c.seqno`, []any{bareName(table)}
	}
	return "", nil
}
