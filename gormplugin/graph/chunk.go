package graph

import (
	"cmp"
	"reflect"
	"time"

	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/dialect"
	"github.com/seed-299c1d6b/snowkey/gormplugin/internal/rows"
)

const (
	// maxBytes limits the length of the values of one INSERT. MySQL and MariaDB refuse a packet
	// longer than max_allowed_packet, which is 4 MiB or more by default. The values take up to
	// half of it, because a client that writes them into the statement may double their length.
	maxBytes = 2 << 20
	// scalarBytes is the estimated length of a number or a time, written as text.
	scalarBytes = 20
	// unsureRows limits the rows of an INSERT whose length cannot be estimated.
	unsureRows = 1000
	// spareParameters are reserved for the clauses of an upsert.
	spareParameters = 64
)

// chunks divides the rows of a batch into one list per INSERT. It first sorts rows that other
// transactions may write too.
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

// maxRows returns how many rows of a batch go into one INSERT, unless maxBytes limits them.
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

// listsFilled reports whether the INSERT may contain a list of the values that the plugin filled in
// a column other than the key. An upsert with UpdateAll compares each row with that whole list.
func (w *writer) listsFilled(b *batch) bool {
	if b.id.conflict != updateAll && b.id.conflict != byHandle {
		return false
	}
	_, columns := w.keys.Upserted(b.model.schema, w.tableOf(b.model.schema))
	return len(columns) > 0
}

// length says what the type of a column tells about the length of its values.
type length uint8

const (
	fixed    length = iota // short: estimated as scalarBytes
	measured               // depends on the value, which can be measured
	unsure                 // not known, for example because a method makes the text
)

// measure finds the columns whose values must be measured, and those whose length is not known.
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

// lengthOf returns what is known of the length of a type's values. It looks into slices, arrays,
// pointers and structs of exported fields, such as sql.NullString. Nothing calls a Value method to
// learn the length, because that may take time.
func lengthOf(t reflect.Type, depth int) length {
	const tooDeep = 8 // the type may contain itself
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

// bytesIn estimates the length of a value, which lengthOf has called measured.
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
