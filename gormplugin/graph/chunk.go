package graph

import (
	"cmp"
	"reflect"
	"time"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/dialect"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/rows"
)

const (
	// maxBytes limits the values of one INSERT. MySQL and MariaDB refuse a packet longer than
	// max_allowed_packet, which is 4 MiB or more unless the server is configured otherwise. A
	// client that writes values into the statement may need twice their length.
	maxBytes = 2 << 20
	// scalarBytes is the length of a number or a time, written as text.
	scalarBytes = 20
	// unsureRows is the number of rows in an INSERT whose length is not known beforehand.
	unsureRows = 1000
	// spareParameters are for what an upsert adds.
	spareParameters = 64
)

// chunks divides a batch into the rows of each INSERT. It sorts rows that other transactions may
// write too.
func (w *writer) chunks(b *batch) (chunks [][]*node) {
	list, most := w.sortShared(b.rows), w.maxRows(b)
	from, total := 0, 0
	for i, n := range list {
		size := b.model.bytesOf(n.row)
		if i > from && (i-from == most || total+size > maxBytes) {
			chunks = append(chunks, list[from:i:i])
			from, total = i, 0
		}
		total += size
	}
	return append(chunks, list[from:])
}

// maxRows returns how many rows of a batch go into one INSERT, if they are short.
func (w *writer) maxRows(b *batch) int {
	columns := max(1, len(b.model.schema.DBNames))
	limit := max(1, (dialect.MaxParameters(w.db)-spareParameters)/columns)
	if size := cmp.Or(w.cfg.BatchSize, max(0, w.db.CreateBatchSize)); size > 0 {
		return min(size, limit)
	}
	parameters, most := dialect.FastInsert(w.db)
	if b.model.unsure || b.model.hasBeforeHooks(w.db) || w.listsFilled(b) {
		most = min(most, unsureRows)
	}
	return min(most, limit, max(1, parameters/columns))
}

// listsFilled reports whether the INSERT may list the values that were filled in a column beside
// the key: an upsert with UpdateAll compares each row with all of them.
func (w *writer) listsFilled(b *batch) bool {
	if b.id.conflict != updateAll && b.id.conflict != byHandle {
		return false
	}
	_, columns := w.keys.Upserted(b.model.schema, w.tableOf(b.model.schema))
	return len(columns) > 0
}

// length says what is known of the length of a column's values.
type length uint8

const (
	fixed    length = iota
	measured        // by the value
	unsure          // a method makes the text
)

// measure finds the columns whose values are of different lengths.
func (m *model) measure() {
	for _, name := range m.schema.DBNames {
		f := m.schema.FieldsByDBName[name]
		switch l := lengthOf(f.FieldType, 0); {
		case f.Serializer != nil || l == unsure:
			m.unsure = true
		case l == measured:
			m.texts = append(m.texts, f)
		}
	}
}

// bytesOf estimates the length of a row's values.
func (m *model) bytesOf(row reflect.Value) int {
	total := scalarBytes * len(m.schema.DBNames)
	for _, f := range m.texts {
		total += bytesIn(rows.Field(row, f.StructField.Index))
	}
	return total
}

// lengthOf reads texts, lists and structs of exported fields, such as sql.NullString. It does not
// call the Value method of a type, which may take time.
func lengthOf(t reflect.Type, depth int) length {
	const tooDeep = 8 // a type that contains itself
	if depth == tooDeep {
		return unsure
	}
	switch t.Kind() {
	case reflect.String:
		return measured
	case reflect.Slice:
		return max(measured, lengthOf(t.Elem(), depth+1))
	case reflect.Pointer, reflect.Array:
		return lengthOf(t.Elem(), depth+1)
	case reflect.Struct:
		if t.ConvertibleTo(reflect.TypeFor[time.Time]()) {
			return fixed
		}
		l := fixed
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() {
				l = max(l, lengthOf(f.Type, depth+1))
			} else {
				l = unsure
			}
		}
		return l
	case reflect.Map, reflect.Interface, reflect.Func, reflect.Chan, reflect.UnsafePointer:
		return unsure
	}
	return fixed
}

// bytesIn returns the length of a value of a type whose length is measured.
func bytesIn(v reflect.Value) (total int) {
	switch v.Kind() {
	case reflect.Invalid:
		return 0
	case reflect.String:
		return v.Len()
	case reflect.Pointer:
		return bytesIn(v.Elem())
	case reflect.Slice, reflect.Array:
		switch v.Type().Elem().Kind() {
		case reflect.Uint8:
			return v.Len()
		case reflect.String, reflect.Slice, reflect.Array, reflect.Pointer, reflect.Struct:
			for i := range v.Len() {
				total += scalarBytes + bytesIn(v.Index(i))
			}
			return total
		}
		return scalarBytes * v.Len()
	case reflect.Struct:
		if v.Type().ConvertibleTo(reflect.TypeFor[time.Time]()) {
			return 0
		}
		for i := range v.NumField() {
			total += bytesIn(v.Field(i))
		}
		return total
	}
	return 0
}
