package graph

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"gorm.io/gorm/schema"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/rows"
)

const (
	// maxBytes limits the values of one INSERT to half of the smallest default max_allowed_packet of
	// MySQL and MariaDB: a client that writes them into the statement may double their length.
	maxBytes    = 2 << 20
	scalarBytes = 20   // of a number or a time, written as text
	unsureRows  = 1000 // of an INSERT whose length cannot be measured
	spare       = 64   // parameters for the clauses of an upsert
)

// limits returns how many parameters a statement may have, and how many are fast. With more, MariaDB
// is slower, each prepared statement takes megabytes in PostgreSQL, and SQLite's pure Go driver binds
// them in quadratic time.
func limits(dialect string) (most, fast int) {
	switch dialect {
	case "postgres", "mysql":
		return 65535, 16384
	case "sqlite":
		return 32766, 1000
	}
	return 2100, 2100 // SQL Server's
}

// chunks divides rows into one list for each INSERT.
func (w *writer) chunks(m *model, list []*node) (chunks [][]*node) {
	most, fast := limits(w.db.Name())
	columns := max(1, len(m.schema.DBNames))
	size := max(1, fast/columns)
	if m.unsure || m.before { // a hook may change the values
		size = min(size, unsureRows)
	}
	size = min(cmp.Or(w.batchSize, max(0, w.db.CreateBatchSize), size), max(1, (most-spare)/columns))
	from, total := 0, 0
	for i, n := range list {
		length := m.bytesOf(n.row)
		if i > from && (i-from == size || total+length > maxBytes) {
			chunks = append(chunks, list[from:i:i])
			from, total = i, 0
		}
		total += length
	}
	return append(chunks, list[from:])
}

// findTexts finds the columns whose values may be long.
func (m *model) findTexts() {
	short := []schema.DataType{schema.Bool, schema.Int, schema.Uint, schema.Float, schema.Time, "bigint"}
	for _, name := range m.schema.DBNames {
		f := m.schema.FieldsByDBName[name]
		switch t := f.IndirectFieldType; {
		case f.Serializer != nil:
			m.unsure = true
		case t.Kind() == reflect.String || t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
			m.texts = append(m.texts, f)
		case t.Kind() > reflect.Float64 && !slices.Contains(short, f.DataType):
			m.unsure = true
		}
	}
}

// bytesOf estimates the length of a row's values.
func (m *model) bytesOf(row reflect.Value) int {
	total := scalarBytes * len(m.schema.DBNames)
	for _, f := range m.texts {
		if v := rows.Indirect(rows.Field(row, f.StructField.Index)); v.IsValid() {
			total += v.Len()
		}
	}
	return total
}

// addLength adds the length of an INSERT to the error of MySQL and MariaDB if it is too long.
func (w *writer) addLength(err error, m *model, list []*node) error {
	total := 0
	for _, n := range list {
		total += m.bytesOf(n.row)
	}
	if text := err.Error(); total > 1<<20 && (strings.Contains(text, "packet") || strings.Contains(text, "invalid connection")) {
		return fmt.Errorf("%w (the INSERT of %d rows has about %d bytes: see max_allowed_packet)", err, len(list), total)
	}
	return err
}
