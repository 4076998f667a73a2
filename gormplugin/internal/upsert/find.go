package upsert

import (
	"errors"
	"reflect"
	"slices"
	"strconv"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/dialect"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/keys"
)

// find looks up rows in the database by the values that they have in the columns of an index.
// It returns what each row that exists has in the columns of all.
func (u *upsert) find(indexes []int, by keys.Unique) (map[int][]any, error) {
	found := make(map[int][]any, len(indexes))
	// SQLite takes 500 SELECTs in one statement.
	for chunk := range slices.Chunk(indexes, min(250, max(1, 30000/max(1, len(by.Fields))))) {
		if err := u.findChunk(chunk, by, found); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func (u *upsert) findChunk(indexes []int, by keys.Unique, found map[int][]any) (err error) {
	stmt, all := u.selectOf(indexes, by), u.all()
	result, err := dialect.Query(u.db, stmt.SQL.String(), stmt.Vars...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, result.Close()) }()
	for result.Next() {
		var i int
		dest := []any{&i}
		for _, c := range all {
			dest = append(dest, reflect.New(reflect.PointerTo(c.Field.IndirectFieldType)).Interface())
		}
		if err := result.Scan(dest...); err != nil {
			return err
		}
		if _, twice := found[i]; twice {
			continue
		}
		values := make([]any, len(all))
		for k := range all {
			if v := reflect.ValueOf(dest[k+1]).Elem(); !v.IsNil() {
				values[k] = v.Elem().Interface()
			}
		}
		found[i] = values
	}
	return result.Err()
}

// selectOf builds one SELECT for each row, joined by UNION ALL. Their first column is the index
// of the row.
func (u *upsert) selectOf(indexes []int, by keys.Unique) *gorm.Statement {
	given := u.db.Statement
	stmt := u.db.Session(&gorm.Session{NewDB: true}).Raw("SELECT").Statement
	stmt.SQL.Reset()
	stmt.Table, stmt.TableExpr, stmt.Schema = given.Table, given.TableExpr, given.Schema
	locking := u.db.Name() == "mysql" // an older snapshot would not show what others have committed
	text := func(s string) { _, _ = stmt.WriteString(s) }
	for k, i := range indexes {
		if k > 0 {
			text(" UNION ALL ")
		}
		if locking {
			text("(")
		}
		text("SELECT ")
		text(strconv.Itoa(i))
		for _, c := range u.all() {
			text(",")
			stmt.WriteQuoted(clause.Column{Name: c.DBName})
		}
		text(" FROM ")
		stmt.WriteQuoted(clause.Table{Name: clause.CurrentTable})
		text(" WHERE ")
		for n, f := range by.Fields {
			if n > 0 {
				text(" AND ")
			}
			value, _ := f.ValueOf(given.Context, u.rows[i])
			stmt.WriteQuoted(clause.Column{Name: f.DBName})
			text(" = ")
			stmt.AddVar(stmt, value)
		}
		for _, e := range by.Where {
			text(" AND (")
			e.Build(stmt)
			text(")")
		}
		if locking {
			text(" LOCK IN SHARE MODE)")
		}
	}
	return stmt
}
