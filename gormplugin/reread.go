package gormplugin

import (
	"database/sql"
	"reflect"
	"slices"
	"strconv"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// find asks the database for the rows that equal those at the given places in
// the given columns, and returns what is followed of them, by place; nil stands for NULL. It is the database that compares, for
// it alone knows its collations: one SELECT for each row, many in one statement.
func (u *upsert) find(db *gorm.DB, rows []reflect.Value, at []int, by unique) (map[int][]any, error) {
	found := make(map[int][]any, len(at))
	// SQLite takes 500 SELECTs in one statement.
	for some := range slices.Chunk(at, min(250, max(1, 30000/max(1, len(by.fields))))) {
		if err := u.findSome(db, rows, some, by, found); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func (u *upsert) findSome(db *gorm.DB, rows []reflect.Value, at []int, by unique, found map[int][]any) (err error) {
	tx := db.Session(&gorm.Session{NewDB: true}).Raw("SELECT")
	stmt := tx.Statement
	stmt.SQL.Reset()
	stmt.Table, stmt.TableExpr, stmt.Schema = db.Statement.Table, db.Statement.TableExpr, db.Statement.Schema
	locking := db.Name() == "mysql" // an older snapshot would not show what others have committed
	follow := u.follow()
	text := func(s string) { _, _ = stmt.WriteString(s) }
	for k, i := range at {
		if k > 0 {
			text(" UNION ALL ")
		}
		if locking {
			text("(")
		}
		text("SELECT ")
		text(strconv.Itoa(i))
		for _, t := range follow {
			text(",")
			stmt.WriteQuoted(clause.Column{Name: t.column})
		}
		text(" FROM ")
		stmt.WriteQuoted(clause.Table{Name: clause.CurrentTable})
		text(" WHERE ")
		for n, f := range by.fields {
			if n > 0 {
				text(" AND ")
			}
			value, _ := f.ValueOf(db.Statement.Context, rows[i])
			stmt.WriteQuoted(clause.Column{Name: f.DBName})
			text(" = ")
			stmt.AddVar(stmt, value)
		}
		for _, e := range by.where {
			text(" AND (")
			e.Build(stmt)
			text(")")
		}
		if locking {
			text(" LOCK IN SHARE MODE)")
		}
	}
	result, err := ask(db, stmt.SQL.String(), stmt.Vars...)
	if err != nil {
		return err
	}
	defer func() {
		if e := result.Close(); err == nil {
			err = e
		}
	}()
	for result.Next() {
		var i int
		dest := []any{&i}
		for _, t := range follow {
			dest = append(dest, reflect.New(reflect.PointerTo(t.field.IndirectFieldType)).Interface())
		}
		if err := result.Scan(dest...); err != nil {
			return err
		}
		if _, twice := found[i]; twice {
			continue
		}
		values := make([]any, len(follow))
		for k := range follow {
			if v := reflect.ValueOf(dest[k+1]).Elem(); !v.IsNil() {
				values[k] = v.Elem().Interface()
			}
		}
		found[i] = values
	}
	return result.Err()
}

// ask sends a query over the statement's own connection, or the pool that rows are written
// to. gorm's callbacks would lead a SELECT to a replica, which may lag, where
// gorm.io/plugin/dbresolver is in use.
func ask(db *gorm.DB, query string, args ...any) (*sql.Rows, error) {
	ctx, began := db.Statement.Context, time.Now()
	rows, err := db.Statement.ConnPool.QueryContext(ctx, query, args...)
	db.Logger.Trace(ctx, began, func() (string, int64) { return db.Explain(query, args...), -1 }, err)
	return rows, err
}
