package pgxtype

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"unsafe"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

const (
	headSize    = 20    // number of dimensions, NULL flag, element OID, length, lower bound
	elementSize = 4 + 8 // its size, and the number
)

// arrayCodec is the codec of bigint[]. pgx's codec makes a plan and a call for each element. arrayCodec
// encodes and scans slices of IDs and Keys in one loop, and leaves the rest, and all scan errors, to pgx.
type arrayCodec struct{ pgtype.Codec }

// isSlice reports whether t is an unnamed slice of a type that holds an id. A named type may have methods.
func isSlice(t reflect.Type) bool {
	return t != nil && t.Kind() == reflect.Slice && t.Name() == "" && (isID(t.Elem()) || pointsToID(t.Elem()))
}

func isPlain(t reflect.Type) bool { return isSlice(t) && t.Elem().Kind() == reflect.Int64 }

// numbers returns the ids of a plain slice, in the same memory.
func numbers(slice reflect.Value) []sqltype.ID {
	return unsafe.Slice((*sqltype.ID)(slice.UnsafePointer()), slice.Len())
}

func (c arrayCodec) PlanEncode(m *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	if t := reflect.TypeOf(value); isPlain(t) {
		return &encodeArray{t, format == pgtype.BinaryFormatCode}
	}
	return c.Codec.PlanEncode(m, oid, format, value)
}

type encodeArray struct {
	typ    reflect.Type
	binary bool
}

func (p *encodeArray) Encode(value any, buf []byte) ([]byte, error) {
	v := reflect.ValueOf(value)
	if !v.IsValid() || v.Type() != p.typ {
		return nil, mismatch(value, p.typ)
	}
	if v.IsNil() {
		return nil, nil
	}
	ids := numbers(v)
	for _, id := range ids {
		if id < 0 {
			return nil, negative("encode", id, p.typ)
		}
	}
	if p.binary {
		return appendBinary(buf, ids), nil
	}
	return appendText(buf, ids), nil
}

func appendBinary(buf []byte, ids []sqltype.ID) []byte {
	for _, n := range []uint32{1, 0, pgtype.Int8OID, uint32(len(ids)), 1} {
		buf = binary.BigEndian.AppendUint32(buf, n)
	}
	for _, id := range ids {
		buf = binary.BigEndian.AppendUint32(buf, 8)
		buf = binary.BigEndian.AppendUint64(buf, uint64(id))
	}
	return buf
}

// appendText appends the array in PostgreSQL's text format, with a form feed before an empty array.
// PostgreSQL skips it in arrays and refuses it in JSON. Without it, {} would be stored as an object if
// pgx does not know that a column is json.
func appendText(buf []byte, ids []sqltype.ID) []byte {
	if len(ids) == 0 {
		return append(buf, "\f{}"...)
	}
	for i, id := range ids {
		buf = append(buf, "{,"[min(i, 1)])
		buf, _ = id.AppendText(buf) // fails only for a negative id
	}
	return append(buf, '}')
}

func (c arrayCodec) PlanScan(m *pgtype.Map, oid uint32, format int16, target any) pgtype.ScanPlan {
	if t := reflect.TypeOf(target); t != nil && t.Kind() == reflect.Pointer && isSlice(t.Elem()) {
		return &scanArray{c.Codec, m, oid, format, t}
	}
	return c.Codec.PlanScan(m, oid, format, target)
}

type scanArray struct {
	pgx    pgtype.Codec
	m      *pgtype.Map
	oid    uint32
	format int16
	typ    reflect.Type
}

// Scan leaves the slice unchanged on an error, which may come from any element.
func (p *scanArray) Scan(src []byte, target any) error {
	if err := checkTarget(target, p.typ); err != nil {
		return err
	}
	to := reflect.ValueOf(target).Elem()
	if p.format == pgtype.BinaryFormatCode && readPlain(src, to) {
		return nil
	}
	fresh := reflect.New(to.Type())
	plan, next, ok := pgtype.TryWrapPtrSliceScanPlan(fresh.Interface())
	inner := p.pgx.PlanScan(p.m, p.oid, p.format, next)
	if !ok || inner == nil {
		return fmt.Errorf("pgxtype: scan bigint[]: no plan for %v: %w", p.typ, sqltype.ErrType)
	}
	plan.SetNext(inner)
	if err := plan.Scan(src, fresh.Interface()); err != nil {
		return err
	}
	to.Set(fresh.Elem())
	return nil
}

// readPlain reads a binary bigint[] of one dimension without NULLs into a plain slice. It returns
// false for anything else, and on an error. The length must match the number of bytes.
func readPlain(src []byte, to reflect.Value) bool {
	if !isPlain(to.Type()) || len(src) < headSize || binary.BigEndian.Uint32(src) != 1 ||
		binary.BigEndian.Uint32(src[8:]) != pgtype.Int8OID {
		return false
	}
	n := int(binary.BigEndian.Uint32(src[12:]))
	if src = src[headSize:]; len(src) != n*elementSize {
		return false
	}
	slice := reflect.MakeSlice(to.Type(), n, n)
	ids := numbers(slice)
	for i := range ids {
		e := src[i*elementSize:][:elementSize]
		if ids[i] = sqltype.ID(binary.BigEndian.Uint64(e[4:])); ids[i] < 0 || binary.BigEndian.Uint32(e) != 8 {
			return false
		}
	}
	to.Set(slice)
	return true
}
