package pgxload

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/seed-299c1d6b/snowkey/internal/fields"
	"github.com/seed-299c1d6b/snowkey/pgxtype"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// rows holds encoded rows, and no memory of the caller. They are in COPY's binary format, whose fields
// look like the elements of a binary array: https://www.postgresql.org/docs/current/sql-copy.html
type rows struct {
	buf   []byte // begins with copyHead
	ends  []int  // the ends of copyHead and of each row
	first int64  // how many rows of the table came before
}

// copyHead begins a COPY: signature, flags, and the length of an extension. copyEnd ends it.
const (
	copyHead = "PGCOPY\n\xff\r\n\x00" + "\x00\x00\x00\x00" + "\x00\x00\x00\x00"
	copyEnd  = "\xff\xff"
)

func (r *rows) count() int { return len(r.ends) - 1 }

func (r *rows) part(from, to int) []byte { return r.buf[r.ends[from]:r.ends[to]] }

// reset drops the rows, and also their memory if it is more than keep bytes.
func (r *rows) reset(first int64, keep int) {
	if cap(r.buf) > keep {
		r.buf, r.ends = nil, nil
	}
	r.buf = append(r.buf[:0], copyHead...)
	r.ends, r.first = append(r.ends[:0], len(r.buf)), first
}

// encode appends a row to t.rows, or returns an error and appends nothing.
func (t *Table) encode(row []any) error {
	r := &t.rows
	fail := func(column string, err error) error { return t.errorAt(r.first+int64(r.count()), column, err) }
	if len(row) != len(t.columns) {
		return fail("", fmt.Errorf("%d values for %d columns", len(row), len(t.columns)))
	}
	buf := binary.BigEndian.AppendUint16(r.buf, uint16(len(row)))
	for c, v := range row {
		var err error
		if buf, err = t.types[c].append(t.w.types, v, buf); err != nil {
			return fail(t.columns[c], err)
		}
	}
	if size := len(buf) - len(r.buf); size > maxChunkBytes {
		return fail("", fmt.Errorf("the row has %d bytes, more than %d", size, maxChunkBytes))
	}
	r.buf, r.ends = buf, append(r.ends, len(buf))
	return nil
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
	return fmt.Errorf("%s (%T) cannot be sent as %s: %w%s", formatValue(v), v, c.Type, err, hint)
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
