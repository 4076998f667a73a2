package gormplugin

import (
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/keys"
)

// maxFound is how many rows one query looks up. SQLite takes 500 SELECTs in one statement.
const maxFound = 256

// find looks up rows in the database by the values that were sent for the columns of an index. It
// returns the values of the upsert's fields for each row that it finds. It skips rows without all
// these values, which cannot collide.
func (s *statement) find(db *gorm.DB, rows []int, by keys.Unique) (map[int][]any, error) {
	found := make(map[int][]any, len(rows))
	rows = slices.DeleteFunc(slices.Clone(rows), func(i int) bool {
		return slices.ContainsFunc(by.Fields, func(f *schema.Field) bool { _, sent := s.upsert.valueOf(i, f); return !sent })
	})
	for len(rows) > 0 {
		// Round up to a power of four: PrepareStmt keeps a statement for each size.
		size := 1
		for size < min(len(rows), maxFound) {
			size *= 4
		}
		chunk := rows[:min(len(rows), size)]
		rows = rows[len(chunk):]
		if err := s.findChunk(db, chunk, size, by, found); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func (s *statement) findChunk(db *gorm.DB, chunk []int, size int, by keys.Unique, found map[int][]any) (err error) {
	query := s.selectOf(db, chunk, size, by)
	result, err := send(db, query.SQL.String(), query.Vars...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, result.Close()) }()
	fields := s.upsert.fields
	for result.Next() {
		var at int
		dest := []any{&at}
		for _, f := range fields {
			dest = append(dest, reflect.New(reflect.PointerTo(f.IndirectFieldType)).Interface())
		}
		if err := result.Scan(dest...); err != nil {
			return err
		}
		if at >= len(chunk) {
			continue // padding: the last row again
		}
		i, values := chunk[at], make([]any, len(fields))
		if found[i] != nil {
			return fmt.Errorf("row %d matches two rows by %v: name or declare only columns with a unique index", i, keys.FieldNames(by.Fields))
		}
		for k := range fields {
			if v := reflect.ValueOf(dest[k+1]).Elem(); !v.IsNil() {
				values[k] = v.Elem().Interface()
			}
		}
		found[i] = values
	}
	return result.Err()
}

// selectOf builds one SELECT for each row, joined by UNION ALL. The first column is the row's
// position.
func (s *statement) selectOf(db *gorm.DB, chunk []int, size int, by keys.Unique) *gorm.Statement {
	stmt := db.Session(&gorm.Session{NewDB: true}).Raw("").Statement
	stmt.Table, stmt.TableExpr, stmt.Schema = s.stmt.Table, s.stmt.TableExpr, s.stmt.Schema
	text := func(text string) { _, _ = stmt.WriteString(text) }
	begin, end := "SELECT ", ""
	if db.Name() == "mysql" { // the snapshot may be older than the row that collided
		begin, end = "(SELECT ", " LOCK IN SHARE MODE)"
	}
	for at := range size {
		if at > 0 {
			text(" UNION ALL ")
		}
		text(begin + strconv.Itoa(at))
		for _, f := range s.upsert.fields {
			text(",")
			stmt.WriteQuoted(clause.Column{Name: f.DBName})
		}
		text(" FROM ")
		stmt.WriteQuoted(clause.Table{Name: clause.CurrentTable})
		text(" WHERE ")
		for n, f := range by.Fields {
			if n > 0 {
				text(" AND ")
			}
			value, _ := s.upsert.valueOf(chunk[min(at, len(chunk)-1)], f)
			stmt.WriteQuoted(clause.Column{Name: f.DBName})
			text(" = ")
			stmt.AddVar(stmt, value)
		}
		for _, e := range by.Where {
			text(" AND (")
			e.Build(stmt)
			text(")")
		}
		text(end)
	}
	return stmt
}

// send sends a query over the statement's own connection, or the pool that rows are written to.
// With gorm.io/plugin/dbresolver, gorm's callbacks would send a SELECT to a replica, which may lag
// behind.
func send(db *gorm.DB, query string, args ...any) (*sql.Rows, error) {
	ctx, began := db.Statement.Context, time.Now()
	rows, err := db.Statement.ConnPool.QueryContext(ctx, query, args...)
	db.Logger.Trace(ctx, began, func() (string, int64) { return db.Explain(query, args...), -1 }, err)
	return rows, err
}
