package pgxtype

import (
	"encoding/binary"
	"math"
	"reflect"
	"slices"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// pgx's array codec plans and calls once for each element. For the binary form of a bigint[] of one
// dimension, which is nearly every array of ids, the elements are written and read here in one
// loop; pgx does the rest, and all errors.

const (
	headSize    = 20    // dimensions, flag of NULLs, element OID, length, lower bound
	elementSize = 4 + 8 // its size, and the number
	flagAt      = 4     // in the head
	lengthAt    = 12    // in the head
	nullSize    = ^uint32(0)
)

// isHead reports whether b is, or begins with, the head of a binary bigint[] of one dimension. No
// array in the text format begins with a zero.
func isHead(b []byte) bool {
	return len(b) >= headSize && binary.BigEndian.Uint32(b) == 1 && binary.BigEndian.Uint32(b[8:]) == pgtype.Int8OID
}

// isSlice reports whether t is a slice of a type that holds an id. One with a name may have methods.
func isSlice(t reflect.Type) bool {
	return t != nil && t.Kind() == reflect.Slice && t.Name() == "" && holdsID(t.Elem())
}

func wrapSlice(value any) (pgtype.WrappedEncodePlanNextSetter, any, bool) {
	t := reflect.TypeOf(value)
	if !isSlice(t) {
		return nil, nil, false
	}
	empty := arrayValue{slice{reflect.MakeSlice(t, 0, 0)}}
	return &encodeSlice{typ: t, empty: empty}, empty, true
}

type encodeSlice struct {
	typ   reflect.Type
	empty any
	next  pgtype.EncodePlan
}

func (p *encodeSlice) SetNext(next pgtype.EncodePlan) { p.next = next }

func (p *encodeSlice) Encode(value any, buf []byte) ([]byte, error) {
	if reflect.TypeOf(value) != p.typ {
		return nil, mismatch(value, p.typ)
	}
	ids := reflect.ValueOf(value)
	out, ok := p.appendHead(buf, ids.Len())
	if !ok || ids.IsNil() {
		return p.encodeByPgx(ids, buf)
	}
	if own, isOwn := value.([]sqltype.ID); isOwn { // without package reflect
		for _, id := range own {
			if id < 0 {
				return nil, negative("encode", id)
			}
			out = binary.BigEndian.AppendUint32(out, 8)
			out = binary.BigEndian.AppendUint64(out, uint64(id))
		}
		return out, nil
	}
	plain := p.typ.Elem().Kind() == reflect.Int64
	for i := range ids.Len() {
		var n sqltype.NullID
		if e := ids.Index(i); plain {
			n = sqltype.NullID{ID: sqltype.ID(e.Int()), Valid: true}
		} else {
			n = idOf(e)
		}
		switch {
		case !n.Valid:
			out = binary.BigEndian.AppendUint32(out, nullSize)
			out[len(buf)+flagAt+3] = 1
		case n.ID < 0:
			return nil, named(negative("encode", n.ID), p.typ)
		default:
			out = binary.BigEndian.AppendUint32(out, 8)
			out = binary.BigEndian.AppendUint64(out, uint64(n.ID))
		}
	}
	return out, nil
}

// appendHead lets pgx append an empty array, whose bytes show the type of the column. ok is false if
// the loop above cannot write it.
func (p *encodeSlice) appendHead(buf []byte, n int) (out []byte, ok bool) {
	out, err := p.next.Encode(p.empty, buf)
	if err != nil || n > math.MaxInt32 || len(out) != len(buf)+headSize || !isHead(out[len(buf):]) {
		return nil, false
	}
	out = slices.Grow(out, n*elementSize)
	binary.BigEndian.PutUint32(out[len(buf)+lengthAt:], uint32(n))
	return out, true
}

// encodeByPgx is for other arrays. In the text format it writes a form feed before an empty array.
// PostgreSQL's arrays skip it, and JSON refuses it. Otherwise, if pgx does not know that a column is
// json, {} would be stored as an object.
func (p *encodeSlice) encodeByPgx(ids reflect.Value, buf []byte) ([]byte, error) {
	out, err := p.next.Encode(arrayValue{slice{ids}}, buf)
	if err == nil && out != nil && ids.Len() == 0 && string(out[len(buf):]) == "{}" {
		out = append(out[:len(buf)], "\f{}"...)
	}
	return out, err
}

// slice is a slice as a parameter for pgx's array codec. It returns the elements' addresses, because
// an id in an interface would be copied to the heap, once per element.
type slice struct{ ids reflect.Value }

func (s slice) Dimensions() []pgtype.ArrayDimension {
	if s.ids.IsNil() {
		return nil
	}
	return []pgtype.ArrayDimension{{Length: int32(s.ids.Len()), LowerBound: 1}}
}

func (s slice) Index(i int) any { return s.ids.Index(i).Addr().Interface() }

func (s slice) IndexType() any { return reflect.New(s.ids.Type().Elem()).Interface() }

func wrapSliceTarget(target any) (pgtype.WrappedScanPlanNextSetter, any, bool) {
	t := reflect.TypeOf(target)
	if t == nil || t.Kind() != reflect.Pointer || !isSlice(t.Elem()) {
		return nil, nil, false
	}
	byPgx, next, ok := pgtype.TryWrapPtrSliceScanPlan(target)
	return &scanSlice{byPgx, t}, next, ok
}

type scanSlice struct {
	pgtype.WrappedScanPlanNextSetter // pgx's plan
	typ                              reflect.Type
}

// Scan keeps the old slice on an error, which may come from any element.
func (p *scanSlice) Scan(src []byte, target any) error {
	to, err := destination(target, p.typ)
	if err != nil {
		return err
	}
	ids, ok := readSlice(p.typ.Elem(), src)
	if !ok {
		fresh := reflect.New(p.typ.Elem())
		if err := p.WrappedScanPlanNextSetter.Scan(src, fresh.Interface()); err != nil {
			return err
		}
		ids = fresh.Elem()
	}
	to.Set(ids)
	return nil
}

// readSlice reads a binary bigint[] of one dimension into a slice of type t. ok is false for all
// else, and for an error. The length is no more than the bytes allow.
func readSlice(t reflect.Type, src []byte) (ids reflect.Value, ok bool) {
	if !isHead(src) {
		return ids, false
	}
	n := binary.BigEndian.Uint32(src[lengthAt:])
	src = src[headSize:]
	if uint64(n) > uint64(len(src)/4) {
		return ids, false
	}
	if t.Elem() == idType && len(src) == int(n)*elementSize { // without package reflect
		own := make([]sqltype.ID, n)
		for i := range own {
			e := src[i*elementSize:][:elementSize]
			if own[i] = sqltype.ID(binary.BigEndian.Uint64(e[4:])); own[i] < 0 || binary.BigEndian.Uint32(e) != 8 {
				return ids, false
			}
		}
		return reflect.ValueOf(own), true
	}
	ids = reflect.MakeSlice(t, int(n), int(n))
	plain := t.Elem().Kind() == reflect.Int64
	for i := range int(n) {
		var id sqltype.NullID
		switch {
		case len(src) >= elementSize && binary.BigEndian.Uint32(src) == 8:
			id = sqltype.NullID{ID: sqltype.ID(binary.BigEndian.Uint64(src[4:])), Valid: true}
			src = src[elementSize:]
		case len(src) >= 4 && binary.BigEndian.Uint32(src) == nullSize:
			src = src[4:]
		default:
			return ids, false
		}
		switch {
		case id.ID < 0:
			return ids, false
		case plain && id.Valid:
			ids.Index(i).SetInt(int64(id.ID))
		case setID(ids.Index(i), id) != nil:
			return ids, false
		}
	}
	return ids, len(src) == 0
}
