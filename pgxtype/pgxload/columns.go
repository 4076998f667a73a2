package pgxload

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/seed-299c1d6b/snowkey/internal/fields"
	"github.com/seed-299c1d6b/snowkey/pgxtype"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// column is the type of a column.
type column struct {
	oid   uint32       // the type, or the base type of a domain
	codec uint32       // the type whose codec encodes its values: text if AsText
	array uint32       // the type of an array of oid
	name  string       // the name of the type
	own   pgtype.Codec // pgx's codec, even if package pgxtype wraps it; a program's codec gets the caller's value
}

// columnsOf is the query for all columns of tables.
const columnsOf = `with recursive r as (select n, to_regclass(name) as id from unnest($1::text[]) with ordinality as names(name, n)),
	c(n, name, num, type) as (
	select r.n, attname, attnum, atttypid from r join pg_catalog.pg_attribute on attrelid = r.id where attnum > 0 and not attisdropped
	union all select c.n, c.name, c.num, d.typbasetype from c join pg_catalog.pg_type d on d.oid = c.type where d.typtype = 'd')
select (c.n - 1)::int, s.nspname, r.relname, c.name, pg_catalog.format_type(t.oid, null), t.oid, case when t.typcategory = 'A' or t.typtype = 'c' then 0::oid else t.typarray end,
	coalesce(p.prosrc in ('textrecv', 'varcharrecv', 'bpcharrecv', 'enum_recv'), false),
	exists (select from pg_catalog.pg_index i where i.indrelid = r.oid and i.indisprimary and c.num = any ((i.indkey::int2[])[0:i.indnkeyatts - 1]))
from c join r id using (n) join pg_catalog.pg_type t on t.oid = c.type left join pg_catalog.pg_proc p on p.oid = t.typreceive
	join pg_catalog.pg_class r on r.oid = id.id join pg_catalog.pg_namespace s on s.oid = r.relnamespace
where t.typtype <> 'd'`

// found is a row of columnsOf.
type found struct {
	Table                      int
	Schema, Name, Column, Type string
	OID, Array                 uint32 // Array is 0 if unnest cannot make a column of it
	AsText, InPrimary          bool   // AsText: the server reads the binary form as text, for example for an enum or citext
}

// describe looks up the columns of all new tables.
func (w *Writer) describe() bool {
	tables := w.tables[w.described:]
	if !w.wait() || len(tables) == 0 {
		return w.err == nil
	}
	w.described, w.err = len(w.tables), w.orphan
	names := make([]string, len(tables))
	for i, t := range tables {
		names[i] = t.name
	}
	rows, _ := w.tx.Query(w.ctx, columnsOf, pgx.QueryExecModeExec, names) // rows has the error
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[found])
	if err != nil {
		w.err = fmt.Errorf("pgxload: look up %q: %w", names, err)
	}
	for i, t := range tables {
		if w.err == nil {
			w.err = t.describe(slices.DeleteFunc(slices.Clone(all), func(f found) bool { return f.Table != i }))
		}
	}
	return w.err == nil
}

// describe sets the types of the table's columns, and finds a codec for each.
func (t *Table) describe(all []found) error {
	if len(all) == 0 {
		return t.fail(-1, "", errors.New("there is no such table"))
	}
	t.ident = pgx.Identifier{all[0].Schema, all[0].Name}
	for _, name := range t.columns {
		at := slices.IndexFunc(all, func(f found) bool { return f.Column == name })
		if at < 0 {
			return t.fail(-1, name, errors.New("the table has no such column"))
		}
		f := all[at]
		c := column{oid: f.OID, codec: f.OID, array: f.Array, name: f.Type}
		if _, known := t.w.types.TypeForOID(f.OID); !known && f.AsText {
			c.codec = pgtype.TextOID
		}
		known, ok := t.w.types.TypeForOID(c.codec)
		switch {
		case !ok: // pgx would send a value in the binary form of its Go type, and the server might read another
			return t.fail(-1, name, fmt.Errorf("pgx has no codec for its type %s: register one by RegisterType of each connection's TypeMap (LoadType finds those of composites, ranges, enums and arrays), or make the column text", f.Type))
		case f.Array == 0 && !t.copies():
			return t.fail(-1, name, fmt.Errorf("is of type %s, which Unnest and OnConflict cannot send: use Copy without OnConflict, or a column of jsonb", f.Type))
		}
		c.own = unwrap(known.Codec)
		if _, ok := known.Codec.(strict); !ok {
			t.w.types.RegisterType(&pgtype.Type{Name: known.Name, OID: known.OID, Codec: strict{known.Codec}})
		}
		t.types = append(t.types, c)
	}
	return t.findPrimary(all)
}

func unwrap(c pgtype.Codec) pgtype.Codec {
	if wrapper, ok := c.(interface{ Unwrap() pgtype.Codec }); ok {
		return unwrap(wrapper.Unwrap())
	}
	return c
}

// append appends a value's length and its binary form, as in COPY and in arrays. Like pgx's CopyFrom, it
// uses the text form of a value that has no binary form, such as a string for a timestamp.
func (c *column) append(m *pgtype.Map, v any, buf []byte) ([]byte, error) {
	if encoded, ok := c.appendUsual(v, buf); ok {
		return encoded, nil
	}
	start := len(buf)
	buf = binary.BigEndian.AppendUint32(buf, math.MaxUint32) // -1: NULL
	encoded, err := m.Encode(c.codec, pgtype.BinaryFormatCode, v, buf)
	if err != nil {
		var byText error
		if encoded, byText = encodeByText(m, c.codec, v, buf); byText != nil {
			return nil, c.unencodable(m, v, err, byText)
		}
	}
	if encoded == nil {
		return buf, nil
	}
	binary.BigEndian.PutUint32(encoded[start:], uint32(len(encoded)-start-4))
	return encoded, nil
}

func encodeByText(m *pgtype.Map, oid uint32, v any, buf []byte) ([]byte, error) {
	text, ok := v.(string)
	if !ok {
		b, err := m.Encode(oid, pgtype.TextFormatCode, v, nil)
		if err != nil {
			return nil, err
		}
		text = string(b)
	}
	var parsed any
	if err := m.Scan(oid, pgtype.TextFormatCode, []byte(text), &parsed); err != nil {
		return nil, err
	}
	return m.Encode(oid, pgtype.BinaryFormatCode, parsed, buf)
}

// appendUsual appends the values of common pointer types, which pgx would copy to the heap. It returns
// false for other values, and for other columns.
func (c *column) appendUsual(v any, buf []byte) ([]byte, bool) {
	switch p := v.(type) {
	case *string:
		if _, ok := c.own.(pgtype.TextCodec); ok && p != nil {
			return append(binary.BigEndian.AppendUint32(buf, uint32(len(*p))), *p...), true
		}
	case *int:
		return appendInt(c, p, buf)
	case *int32:
		return appendInt(c, p, buf)
	case *int64:
		return appendInt(c, p, buf)
	case *sqltype.ID:
		if p != nil && *p >= 0 {
			return appendInt(c, p, buf)
		}
	case *float64:
		if _, ok := c.own.(pgtype.Float8Codec); ok && p != nil {
			return append8(buf, math.Float64bits(*p)), true
		}
	case *time.Time:
		if p != nil && p.Year() > -4700 && p.Year() < 290_000 { // pgx fails beyond its limits
			return c.appendTime(*p, buf)
		}
	}
	return buf, false
}

func appendInt[T int | int32 | int64 | sqltype.ID](c *column, p *T, buf []byte) ([]byte, bool) {
	if p == nil {
		return buf, false
	}
	n := int64(*p)
	switch c.own.(type) {
	case pgtype.Int8Codec:
		return append8(buf, uint64(n)), true
	case pgtype.Int4Codec:
		return binary.BigEndian.AppendUint32(append(buf, 0, 0, 0, 4), uint32(n)), int64(int32(n)) == n
	}
	return buf, false
}

// appendTime appends the microseconds or days since 2000. Like pgx, it drops nanoseconds.
func (c *column) appendTime(t time.Time, buf []byte) ([]byte, bool) {
	const y2k = 946_684_800 // in Unix time
	_, zone := t.Zone()
	switch c.own.(type) {
	case *pgtype.TimestamptzCodec:
		return append8(buf, uint64(t.UnixMicro()-y2k*1e6)), true
	case *pgtype.TimestampCodec:
		return append8(buf, uint64(t.UnixMicro()+int64(zone-y2k)*1e6)), true
	case pgtype.DateCodec:
		day := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC).Unix()
		return binary.BigEndian.AppendUint32(append(buf, 0, 0, 0, 4), uint32((day-y2k)/(24*60*60))), true
	}
	return buf, false
}

func append8(buf []byte, bits uint64) []byte {
	return binary.BigEndian.AppendUint64(append(buf, 0, 0, 0, 8), bits)
}

// unencodable replaces pgx's error, which quotes the address of a value behind a pointer. The new error
// mentions Register if that would help.
func (c *column) unencodable(m *pgtype.Map, v any, err, byText error) error {
	var other otherValueError
	if errors.As(err, &other) || errors.As(byText, &other) {
		err = other
	} else if cause := errors.Unwrap(err); cause != nil {
		err = cause
	}
	hint, full := "", m.Copy()
	pgxtype.Register(full)
	if _, other := full.Encode(c.codec, pgtype.BinaryFormatCode, v, nil); other == nil {
		hint = ": call pgxtype.Register for the connection, such as by AfterConnect"
	}
	return fmt.Errorf("%s (%T) cannot be sent as %s: %w%s", formatValue(v), v, c.name, err, hint)
}

// formatValue quotes a value, or the value that it points to, for an error.
func formatValue(v any) string {
	for r := reflect.ValueOf(v); r.Kind() == reflect.Pointer && !r.IsNil(); r = reflect.ValueOf(v) {
		v = r.Elem().Interface()
	}
	switch reflect.ValueOf(v).Kind() {
	case reflect.Struct, reflect.Map, reflect.Slice, reflect.Array:
		if text, err := json.Marshal(v); err == nil {
			return fmt.Sprintf("%.100s", text)
		}
		return "a value"
	}
	return fields.Quote(v)
}
