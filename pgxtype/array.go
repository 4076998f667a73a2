package pgxtype

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// pgx's array codec plans and calls once for each element. For the binary form of
// a bigint[] of one dimension, which is nearly every array of ids, the elements are
// written and read here in one loop; pgx does the rest, and all errors.

const (
	headSize    = 20    // dimensions, flag of NULLs, element OID, length, lower bound
	elementSize = 4 + 8 // its size, and the number
	flagAt      = 4     // in the head
	lengthAt    = 12    // in the head
	nullSize    = ^uint32(0)
)

// isHead reports whether b is, or begins with, the head of a binary bigint[] of one
// dimension. No array in the text format begins with a zero.
func isHead(b []byte) bool {
	return len(b) >= headSize && binary.BigEndian.Uint32(b) == 1 && binary.BigEndian.Uint32(b[8:]) == pgtype.Int8OID
}

// appendHead lets pgx append an empty array, whose bytes show the type of the column. ok is false if
// the loops here cannot write it.
func appendHead(next pgtype.EncodePlan, empty any, buf []byte, n int) (head []byte, ok bool) {
	head, err := next.Encode(empty, buf)
	if err != nil || n > math.MaxInt32 || len(head) != len(buf)+headSize || !isHead(head[len(buf):]) {
		return nil, false
	}
	head = slices.Grow(head, n*elementSize)
	binary.BigEndian.PutUint32(head[len(buf)+lengthAt:], uint32(n))
	return head, true
}

// elements returns what follows the head of an array, and how many there are. ok
// is false if the loops here cannot read them; they are no more than the bytes allow.
func elements(src []byte) (rest []byte, n int, ok bool) {
	if !isHead(src) {
		return nil, 0, false
	}
	rest = src[headSize:]
	length := binary.BigEndian.Uint32(src[lengthAt:])
	return rest, int(length), uint64(length) <= uint64(len(rest)/4)
}

func wrapSlice(value any) (pgtype.WrappedEncodePlanNextSetter, any, bool) {
	switch v := value.(type) {
	case []sqltype.ID:
		return &encodeSlice{}, slice(v), true
	case []*sqltype.ID:
		return &encodeNullable[*sqltype.ID]{id: fromPointer}, pgtype.FlatArray[*sqltype.ID](v), true
	case []sqltype.NullID:
		return &encodeNullable[sqltype.NullID]{id: fromNullID}, pgtype.FlatArray[sqltype.NullID](v), true
	}
	return wrapKeys(value)
}

type encodeSlice struct{ next pgtype.EncodePlan }

// encodeAny is for arrays that the loops here leave to pgx. In the text format it writes
// a form feed before an empty array. PostgreSQL's arrays skip it, and JSON refuses it.
// Otherwise, if pgx does not know that a column is json, {} would be stored as an object.
func encodeAny(next pgtype.EncodePlan, values any, n int, buf []byte) ([]byte, error) {
	out, err := next.Encode(values, buf)
	if err == nil && out != nil && n == 0 && string(out[len(buf):]) == "{}" {
		out = append(out[:len(buf)], "\f{}"...)
	}
	return out, err
}

func (p *encodeSlice) SetNext(next pgtype.EncodePlan) { p.next = next }

func (p *encodeSlice) Encode(value any, buf []byte) ([]byte, error) {
	ids := value.([]sqltype.ID)
	out, ok := appendHead(p.next, slice{}, buf, len(ids))
	if !ok || ids == nil {
		return encodeAny(p.next, slice(ids), len(ids), buf)
	}
	return appendIDs(out, ids)
}

// appendIDs appends the elements to a head, which has made room for them.
func appendIDs(out []byte, ids []sqltype.ID) ([]byte, error) {
	at := len(out)
	out = out[:at+len(ids)*elementSize]
	to := out[at:]
	for _, id := range ids {
		if id < 0 {
			return nil, negative("encode", id)
		}
		binary.BigEndian.PutUint32(to, 8)
		binary.BigEndian.PutUint64(to[4:], uint64(id))
		to = to[elementSize:]
	}
	return out, nil
}

// encodeNullable is for the slices whose elements may be NULL.
type encodeNullable[T any] struct {
	next pgtype.EncodePlan
	id   func(T) (id sqltype.ID, ok bool)
}

func fromPointer(p *sqltype.ID) (sqltype.ID, bool) {
	if p == nil {
		return 0, false
	}
	return *p, true
}

func fromNullID(n sqltype.NullID) (sqltype.ID, bool) { return n.ID, n.Valid }

func (p *encodeNullable[T]) SetNext(next pgtype.EncodePlan) { p.next = next }

func (p *encodeNullable[T]) Encode(value any, buf []byte) ([]byte, error) {
	values := value.([]T)
	out, ok := appendHead(p.next, pgtype.FlatArray[T]{}, buf, len(values))
	if !ok || values == nil {
		return encodeAny(p.next, pgtype.FlatArray[T](values), len(values), buf)
	}
	return appendNullable(out, len(buf), values, p.id)
}

// appendNullable is appendIDs for elements that may be NULL. The head is at start.
func appendNullable[T any](out []byte, start int, values []T, idOf func(T) (sqltype.ID, bool)) ([]byte, error) {
	for _, v := range values {
		id, ok := idOf(v)
		switch {
		case !ok:
			out = binary.BigEndian.AppendUint32(out, nullSize)
			out[start+flagAt+3] = 1
		case id < 0:
			return nil, negative("encode", id)
		default:
			out = binary.BigEndian.AppendUint32(out, 8)
			out = binary.BigEndian.AppendUint64(out, uint64(id))
		}
	}
	return out, nil
}

func wrapSliceTarget(target any) (pgtype.WrappedScanPlanNextSetter, any, bool) {
	switch t := target.(type) {
	case *[]sqltype.ID:
		return &scanArray[sqltype.ID]{read: readIDs}, (*pgtype.FlatArray[sqltype.ID])(t), true
	case *[]*sqltype.ID:
		return &scanArray[*sqltype.ID]{read: readPointers}, (*pgtype.FlatArray[*sqltype.ID])(t), true
	case *[]sqltype.NullID:
		return &scanArray[sqltype.NullID]{read: readNullIDs}, (*pgtype.FlatArray[sqltype.NullID])(t), true
	}
	return wrapKeysTarget(target)
}

type scanArray[T any] struct {
	next pgtype.ScanPlan
	read func(src []byte) (values []T, ok bool)
}

func (p *scanArray[T]) SetNext(next pgtype.ScanPlan) { p.next = next }

// Scan keeps the old slice on an error, which may come from any element.
func (p *scanArray[T]) Scan(src []byte, target any) error {
	t := target.(*[]T)
	if values, ok := p.read(src); ok {
		*t = values
		return nil
	}
	old := *t
	err := p.next.Scan(src, (*pgtype.FlatArray[T])(t))
	if err != nil {
		*t = old
	}
	return err
}

// readIDs reads an array without errors.
func readIDs(src []byte) (ids []sqltype.ID, ok bool) {
	src, n, ok := elements(src)
	if !ok || len(src)%elementSize != 0 || len(src)/elementSize != n {
		return nil, false
	}
	ids = make([]sqltype.ID, n)
	for i := range ids {
		e := src[:elementSize:elementSize]
		id := sqltype.ID(binary.BigEndian.Uint64(e[4:]))
		if binary.BigEndian.Uint32(e) != 8 || id < 0 {
			return nil, false
		}
		ids[i], src = id, src[elementSize:]
	}
	return ids, true
}

func readPointers(src []byte) ([]*sqltype.ID, bool) {
	return readNullable(src, func(p **sqltype.ID, id sqltype.ID) {
		*p = new(sqltype.ID)
		**p = id
	})
}

func readNullIDs(src []byte) ([]sqltype.NullID, bool) {
	return readNullable(src, func(n *sqltype.NullID, id sqltype.ID) { *n = sqltype.NullID{ID: id, Valid: true} })
}

// readNullable is readIDs for elements that may be NULL.
func readNullable[T any](src []byte, put func(*T, sqltype.ID)) (values []T, ok bool) {
	src, n, ok := elements(src)
	if !ok {
		return nil, false
	}
	values = make([]T, n)
	for i := range values {
		if len(src) < 4 {
			return nil, false
		}
		size := binary.BigEndian.Uint32(src)
		if size == nullSize {
			src = src[4:]
			continue
		}
		if size != 8 || len(src) < elementSize {
			return nil, false
		}
		id := sqltype.ID(binary.BigEndian.Uint64(src[4:]))
		if id < 0 {
			return nil, false
		}
		put(&values[i], id)
		src = src[elementSize:]
	}
	return values, len(src) == 0
}

// slice is a []ID as a parameter for pgx's array codec. It returns the elements' addresses, because
// an ID in an interface would be copied to the heap, once per element.
type slice []sqltype.ID

var _ pgtype.ArrayGetter = slice(nil)

func (s slice) Dimensions() []pgtype.ArrayDimension {
	if s == nil {
		return nil
	}
	return []pgtype.ArrayDimension{{Length: int32(len(s)), LowerBound: 1}}
}

func (s slice) Index(i int) any { return &s[i] }

func (s slice) IndexType() any { return (*sqltype.ID)(nil) }
