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

// findRows looks up the rows of an upsert, and returns the values of its fields for each row that it finds.
// It looks first by what no other row has: the columns that were filled, if the database makes the key,
// and the key. Then it looks by the indexes in which a row may have collided, if that changes its key.
func (s *statement) findRows(db *gorm.DB) (found map[int][]any, err error) {
	u := s.upsert
	found = map[int][]any{}
	find := func(list []int, sets ...keys.Unique) {
		list = slices.DeleteFunc(slices.Clone(list), func(i int) bool { return found[i] != nil })
		for _, by := range sets {
			if err == nil {
				err = s.findBy(db, list, by, found)
			}
		}
	}
	if !s.plan.FillsKey() {
		for _, f := range s.filled {
			find(f.Rows, keys.Unique{Fields: []*schema.Field{f.Column.Field}})
		}
	}
	find(u.rows, keys.Unique{Fields: s.stmt.Schema.PrimaryFields})
	find(slices.DeleteFunc(slices.Clone(u.rows), s.keepsKey), u.indexes...)
	return found, err
}

// findBy finds rows by the values that were sent for the columns of an index. It skips rows without all
// these values, which cannot collide.
func (s *statement) findBy(db *gorm.DB, list []int, by keys.Unique, found map[int][]any) error {
	if len(by.Fields) == 0 { // the key of a model that has none
		return nil
	}
	list = slices.DeleteFunc(slices.Clone(list), func(i int) bool { return !s.upsert.mayCollide(i, by) })
	most := maxFound
	if isIntegerKey(by) {
		most = maxKeys
	}
	for chunk := range slices.Chunk(list, most) {
		if err := s.findChunk(db, chunk, by, found); err != nil {
			return err
		}
	}
	return nil
}

// mayCollide reports whether a row has a value in each column of an index.
func (u *upsert) mayCollide(i int, by keys.Unique) bool {
	return !slices.ContainsFunc(by.Fields, func(f *schema.Field) bool {
		value, sent := u.valueOf(i, f)
		return !sent || !by.Nulls && isNull(value)
	})
}

// isIntegerKey reports whether one IN finds all rows.
func isIntegerKey(by keys.Unique) bool {
	return len(by.Fields) == 1 && by.Fields[0].PrimaryKey && rows.IsInteger(by.Fields[0].FieldType)
}

func (s *statement) findChunk(db *gorm.DB, chunk []int, by keys.Unique, found map[int][]any) (err error) {
	q := db.Session(&gorm.Session{NewDB: true}).Raw("").Statement
	q.Table, q.TableExpr, q.Schema = s.stmt.Table, s.stmt.TableExpr, s.stmt.Schema
	asked := s.writeQuery(db, q, chunk, by)
	result, err := sendToPrimary(db, q.SQL.String(), q.Vars...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, result.Close()) }()
	for result.Next() {
		var name string
		dest, values := []any{&name}, make([]any, len(s.upsert.fields))
		for _, f := range s.upsert.fields {
			dest = append(dest, reflect.New(reflect.PointerTo(f.IndirectFieldType)).Interface())
		}
		if err := result.Scan(dest...); err != nil {
			return err
		}
		for k := range values {
			if v := reflect.ValueOf(dest[k+1]).Elem(); !v.IsNil() { // else it is NULL
				values[k] = v.Elem().Interface()
			}
		}
		for _, i := range asked[name] {
			if other := found[i]; other != nil && !reflect.DeepEqual(other, values) {
				return fmt.Errorf("row %d collides with several rows, by %s: only the database knows which it took; "+
					"name or declare only columns of one unique index", i, s.upsert.indexNames())
			}
			found[i] = values
		}
	}
	return result.Err()
}

// writeQuery writes a query of the rows of a chunk. Its first column is a number, or the integer key, by
// which the rows are in asked. It repeats the last row up to a power of four: PrepareStmt keeps a statement
// for each size.
func (s *statement) writeQuery(db *gorm.DB, q *gorm.Statement, chunk []int, by keys.Unique) (asked map[string][]int) {
	size := 1
	for size < len(chunk) {
		size *= 4
	}
	chunk = slices.Concat(chunk, slices.Repeat(chunk[len(chunk)-1:], size-len(chunk)))
	asked = make(map[string][]int, size)
	if isIntegerKey(by) { // one SELECT for all rows
		in := clause.IN{Column: clause.Column{Name: by.Fields[0].DBName}}
		for _, i := range chunk {
			value, _ := s.upsert.valueOf(i, by.Fields[0])
			name := rows.Text(reflect.ValueOf(value))
			in.Values, asked[name] = append(in.Values, value), append(asked[name], i)
		}
		s.selectFields(db, in.Column, []clause.Expression{in}).Build(q)
		return asked
	}
	for at, i := range chunk {
		if at > 0 {
			_, _ = q.WriteString(" UNION ALL ")
		}
		where := slices.Clone(by.Where)
		for _, f := range by.Fields {
			value, _ := s.upsert.valueOf(i, f)
			where = append(where, clause.Eq{Column: clause.Column{Name: f.DBName}, Value: value})
		}
		name := strconv.Itoa(at)
		s.selectFields(db, clause.Expr{SQL: name}, where).Build(q)
		asked[name] = []int{i}
	}
	return asked
}

// selectFields returns a SELECT of a column and the upsert's fields.
func (s *statement) selectFields(db *gorm.DB, first any, where []clause.Expression) clause.Expr {
	form, vars := "SELECT ?", []any{first}
	for _, f := range s.upsert.fields {
		form, vars = form+",?", append(vars, clause.Column{Name: f.DBName})
	}
	if form += " FROM ? ?"; db.Name() == "mysql" { // the snapshot may be older than the row that collided
		form = "(" + form + " LOCK IN SHARE MODE)"
	}
	return clause.Expr{SQL: form, Vars: append(vars, clause.Table{Name: clause.CurrentTable}, clause.Where{Exprs: where})}
}

// sendToPrimary sends a query over the statement's own connection, or the pool that rows are written to.
// With gorm.io/plugin/dbresolver, gorm's callbacks would send a SELECT to a replica, which may lag
// behind.
func sendToPrimary(db *gorm.DB, query string, args ...any) (*sql.Rows, error) {
	ctx, began := db.Statement.Context, time.Now()
	rows, err := db.Statement.ConnPool.QueryContext(ctx, query, args...)
	db.Logger.Trace(ctx, began, func() (string, int64) { return db.Explain(query, args...), -1 }, err)
	return rows, err
}

// isNull reports whether the database gets NULL for a value.
func isNull(value any) bool {
	value, err := driver.DefaultParameterConverter.ConvertValue(value)
	return err == nil && value == nil
}
