package pgxtype

import (
	"reflect"

	"github.com/jackc/pgx/v5/pgtype"
)

// If pgx does not know the type of a column, it uses the default type that is registered for []ID. A
// []Key is then passed as a []ID, and so on: they have the same memory layout.

// withIDs returns t with an ID for each Key, and a NullID for each NullKey.
func withIDs(t reflect.Type) reflect.Type {
	switch {
	case t.Kind() == reflect.Slice && t.Name() == "":
		return reflect.SliceOf(withIDs(t.Elem()))
	case t.Kind() == reflect.Pointer && t.Name() == "":
		return reflect.PointerTo(withIDs(t.Elem()))
	case !isKey(t):
		return t
	case t.Kind() == reflect.Int64:
		return idType
	}
	return nullType
}

// keysAsIDs returns the type of IDs for a slice of keys of type t, or nil if t is no such slice.
func keysAsIDs(t reflect.Type) reflect.Type {
	if t == nil || t.Kind() != reflect.Slice {
		return nil
	}
	if as := withIDs(t); as != t {
		return as
	}
	return nil
}

type encodeKeys struct {
	as   reflect.Type
	next pgtype.EncodePlan
}

func wrapKeys(value any) (pgtype.WrappedEncodePlanNextSetter, any, bool) {
	as := keysAsIDs(reflect.TypeOf(value))
	if as == nil {
		return nil, nil, false
	}
	p := &encodeKeys{as: as}
	return p, p.ids(value), true
}

func (p *encodeKeys) ids(value any) any {
	keys := reflect.New(reflect.TypeOf(value))
	keys.Elem().Set(reflect.ValueOf(value))
	return reflect.NewAt(p.as, keys.UnsafePointer()).Elem().Interface()
}

func (p *encodeKeys) SetNext(next pgtype.EncodePlan) { p.next = next }

func (p *encodeKeys) Encode(value any, buf []byte) ([]byte, error) {
	return p.next.Encode(p.ids(value), buf)
}

type scanKeys struct {
	as   reflect.Type
	next pgtype.ScanPlan
}

func wrapKeysTarget(target any) (pgtype.WrappedScanPlanNextSetter, any, bool) {
	t := reflect.TypeOf(target)
	if t == nil || t.Kind() != reflect.Pointer {
		return nil, nil, false
	}
	as := keysAsIDs(t.Elem())
	if as == nil {
		return nil, nil, false
	}
	p := &scanKeys{as: as}
	return p, p.ids(target), true
}

func (p *scanKeys) ids(target any) any {
	return reflect.NewAt(p.as, reflect.ValueOf(target).UnsafePointer()).Interface()
}

func (p *scanKeys) SetNext(next pgtype.ScanPlan) { p.next = next }

func (p *scanKeys) Scan(src []byte, target any) error { return p.next.Scan(src, p.ids(target)) }
