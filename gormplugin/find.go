package gormplugin

import (
	"database/sql"
	"database/sql/driver"
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
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/rows"
)

// How many rows one query looks up, by the columns of an index and by an integer key. PostgreSQL takes
// 16 ms to plan a query of 256 SELECTs, because it considers a parallel one. Both are powers of four.
const (
	maxFound = 64
	maxKeys  = 1024
)

// find looks up rows in the database by the values that were sent for the columns of an index. It
// returns the values of the upsert's fields for each row that it finds. It skips rows without all
// these values, which cannot collide.
func (s *statement) find(db *gorm.DB, list []int, by keys.Unique) (map[int][]any, error) {
	found := make(map[int][]any, len(list))
	list = slices.DeleteFunc(slices.Clone(list), func(i int) bool {
		return slices.ContainsFunc(by.Fields, func(f *schema.Field) bool {
			value, sent := s.upsert.valueOf(i, f)
			return !sent || !by.Nulls && isNull(value)
		})
	})
	byKey, most := len(by.Fields) == 1 && by.Fields[0].PrimaryKey && rows.IsInteger(by.Fields[0].FieldType), maxFound
	if byKey {
		most = maxKeys
	}
	for len(list) > 0 {
		// Round up to a power of four: PrepareStmt keeps a statement for each size.
		size := 1
		for size < min(len(list), most) {
			size *= 4
		}
		chunk := list[:min(len(list), size)]
		list = list[len(chunk):]
		if err := s.findChunk(db, chunk, size, by, byKey, found); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func (s *statement) findChunk(db *gorm.DB, chunk []int, size int, by keys.Unique, byKey bool, found map[int][]any) (err error) {
	q, withKey := db.Session(&gorm.Session{NewDB: true}).Raw("").Statement, map[string][]int{}
	q.Table, q.TableExpr, q.Schema = s.stmt.Table, s.stmt.TableExpr, s.stmt.Schema
	in := clause.IN{Column: clause.Column{Name: by.Fields[0].DBName}}
	for at := range size {
		i, where := chunk[min(at, len(chunk)-1)], slices.Clone(by.Where)
		if byKey {
			value, _ := s.upsert.valueOf(i, by.Fields[0])
			if in.Values = append(in.Values, value); at < len(chunk) {
				text := rows.Text(reflect.ValueOf(value))
				withKey[text] = append(withKey[text], i)
			}
			continue
		}
		for _, f := range by.Fields {
			value, _ := s.upsert.valueOf(i, f)
			where = append(where, clause.Eq{Column: clause.Column{Name: f.DBName}, Value: value})
		}
		if at > 0 {
			_, _ = q.WriteString(" UNION ALL ")
		}
		s.selectOf(db, at, where).Build(q)
	}
	if byKey { // one SELECT for all rows
		s.selectOf(db, 0, []clause.Expression{in}).Build(q)
	}
	result, err := send(db, q.SQL.String(), q.Vars...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, result.Close()) }()
	for result.Next() {
		at, values, err := s.scan(result)
		if err != nil {
			return err
		}
		matching := chunk[min(at, len(chunk)):min(at+1, len(chunk))] // none for the padding
		if byKey {
			matching = withKey[rows.Text(reflect.ValueOf(values[0]))]
		}
		for _, i := range matching {
			if found[i] != nil {
				return fmt.Errorf("row %d matches two rows by %v: name or declare only columns with a unique index", i, keys.FieldNames(by.Fields))
			}
			found[i] = values
		}
	}
	return result.Err()
}

// selectOf returns a SELECT of a number and the upsert's fields.
func (s *statement) selectOf(db *gorm.DB, at int, where []clause.Expression) clause.Expr {
	form := "SELECT ?"
	vars := []any{clause.Expr{SQL: strconv.Itoa(at)}}
	for _, f := range s.upsert.fields {
		form, vars = form+",?", append(vars, clause.Column{Name: f.DBName})
	}
	if form += " FROM ? ?"; db.Name() == "mysql" { // the snapshot may be older than the row that collided
		form = "(" + form + " LOCK IN SHARE MODE)"
	}
	return clause.Expr{SQL: form, Vars: append(vars, clause.Table{Name: clause.CurrentTable}, clause.Where{Exprs: where})}
}

// scan reads a row of the result. A NULL is nil.
func (s *statement) scan(result *sql.Rows) (at int, values []any, err error) {
	dest := []any{&at}
	for _, f := range s.upsert.fields {
		dest = append(dest, reflect.New(reflect.PointerTo(f.IndirectFieldType)).Interface())
	}
	err = result.Scan(dest...)
	values = make([]any, len(dest)-1)
	for k := range values {
		if v := reflect.ValueOf(dest[k+1]).Elem(); !v.IsNil() {
			values[k] = v.Elem().Interface()
		}
	}
	return at, values, err
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

// isNull reports whether the database gets NULL for a value.
func isNull(value any) bool {
	if v := reflect.ValueOf(value); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return true
	}
	v, ok := value.(driver.Valuer)
	if !ok {
		return false
	}
	value, err := v.Value()
	return err == nil && value == nil
}
