package pgxtype

import (
	"reflect"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// wrapKeys is wrapSlice for keys.
func wrapKeys(value any) (pgtype.WrappedEncodePlanNextSetter, any, bool) {
	k, ok := keyTypeOf(value)
	if !ok {
		return nil, nil, false
	}
	switch k.twin.(type) {
	case []sqltype.ID, []*sqltype.ID, []sqltype.NullID:
		empty := keyArray{reflect.MakeSlice(reflect.TypeOf(value), 0, 0)}
		return &encodeKeys{keyType: k, empty: empty}, empty, true
	}
	return nil, nil, false
}

type encodeKeys struct {
	keyType
	empty any
	next  pgtype.EncodePlan
}

func (p *encodeKeys) SetNext(next pgtype.EncodePlan) { p.next = next }

func (p *encodeKeys) Encode(value any, buf []byte) ([]byte, error) {
	twin, err := p.ids(value)
	if err != nil {
		return nil, err
	}
	n := reflect.ValueOf(value).Len()
	out, ok := appendHead(p.next, p.empty, buf, n)
	if !ok || reflect.ValueOf(value).IsNil() {
		return encodeAny(p.next, keyArray{reflect.ValueOf(value)}, n, buf)
	}
	switch ids := twin.(type) {
	case []sqltype.ID:
		out, err = appendIDs(out, ids)
	case []*sqltype.ID:
		out, err = appendNullable(out, len(buf), ids, fromPointer)
	case []sqltype.NullID:
		out, err = appendNullable(out, len(buf), ids, fromNullID)
	}
	if err != nil {
		return nil, named(err, value)
	}
	return out, nil
}

// wrapKeysTarget is wrapSliceTarget for keys.
func wrapKeysTarget(target any) (pgtype.WrappedScanPlanNextSetter, any, bool) {
	k, ok := keyTypeOf(target)
	if !ok {
		return nil, nil, false
	}
	switch k.twin.(type) {
	case *[]sqltype.ID, *[]*sqltype.ID, *[]sqltype.NullID:
		return &scanKeys{keyType: k}, &keyArray{reflect.New(reflect.TypeOf(target).Elem()).Elem()}, true
	}
	return nil, nil, false
}

type scanKeys struct {
	keyType
	next pgtype.ScanPlan
}

func (p *scanKeys) SetNext(next pgtype.ScanPlan) { p.next = next }

func (p *scanKeys) Scan(src []byte, target any) error {
	twin, err := p.ids(target)
	if err != nil {
		return err
	}
	switch ids := twin.(type) {
	case *[]sqltype.ID:
		return scanElements(p, src, ids, target, readIDs)
	case *[]*sqltype.ID:
		return scanElements(p, src, ids, target, readPointers)
	case *[]sqltype.NullID:
		return scanElements(p, src, ids, target, readNullIDs)
	}
	return nil
}

// scanElements is Scan of scanArray for keys.
func scanElements[T any](p *scanKeys, src []byte, ids *[]T, keys any, read func([]byte) ([]T, bool)) error {
	if values, ok := read(src); ok {
		*ids = values
		return nil
	}
	old := *ids
	err := p.next.Scan(src, &keyArray{reflect.ValueOf(keys).Elem()})
	if err != nil {
		*ids = old
	}
	return err
}

// keyArray is a slice of keys for pgx's array codec. Its elements keep the type of the key, which a
// json column needs, and are addresses, as those of slice.
type keyArray struct{ slice reflect.Value }

var (
	_ pgtype.ArrayGetter = keyArray{}
	_ pgtype.ArraySetter = (*keyArray)(nil)
)

func (a keyArray) Dimensions() []pgtype.ArrayDimension {
	if a.slice.IsNil() {
		return nil
	}
	return []pgtype.ArrayDimension{{Length: int32(a.slice.Len()), LowerBound: 1}}
}

func (a keyArray) Index(i int) any {
	e := a.slice.Index(i)
	if e.Kind() != reflect.Pointer {
		e = e.Addr()
	}
	return e.Interface()
}

func (a keyArray) IndexType() any {
	t := a.slice.Type().Elem()
	if t.Kind() != reflect.Pointer {
		t = reflect.PointerTo(t)
	}
	return reflect.Zero(t).Interface()
}

func (a *keyArray) SetDimensions(dimensions []pgtype.ArrayDimension) error {
	var flat pgtype.FlatArray[struct{}] // counts the elements as pgx does
	if err := flat.SetDimensions(dimensions); err != nil {
		return err
	}
	if flat == nil {
		a.slice.SetZero()
		return nil
	}
	a.slice.Set(reflect.MakeSlice(a.slice.Type(), len(flat), len(flat)))
	return nil
}

func (a *keyArray) ScanIndex(i int) any { return a.slice.Index(i).Addr().Interface() }

func (a *keyArray) ScanIndexType() any { return reflect.New(a.slice.Type().Elem()).Interface() }
