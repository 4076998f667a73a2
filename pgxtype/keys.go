package pgxtype

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"unsafe"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// A Key has the memory of an ID, and a NullKey that of a NullID. So each type of keys has a twin of
// ids, which is what the plans of this package work with: *Key[Order] has *ID, and []NullKey[Order]
// has []NullID. A value gets the type of its twin without a copy, by a change of the interface that
// holds it. Package reflect would take three times as long for a key, and copy it to the heap.
// TestTwinsHaveOneLayout checks what this assumes.

// words is the layout of an any.
type words struct{ typ, data unsafe.Pointer }

func wordsOf(v any) words { return *(*words)(unsafe.Pointer(&v)) }

// retyped returns v with the type of twin.
func retyped(v, twin any) any {
	(*words)(unsafe.Pointer(&v)).typ = wordsOf(twin).typ
	return v
}

// twinOf returns the zero value of the twin of v's type, or nil if it has none.
func twinOf(v any) any {
	if v == nil {
		return nil
	}
	return twinOfType(reflect.TypeOf(v))
}

func twinOfType(t reflect.Type) any {
	switch t.Kind() {
	case reflect.Int64, reflect.Struct:
		return twinOfKey(t)
	case reflect.Pointer:
		if t.Name() == "" {
			return pointerTo(twinOfType(t.Elem()))
		}
	case reflect.Slice:
		if t.Name() == "" { // one with a name may have methods
			return sliceOf(twinOfType(t.Elem()))
		}
	}
	return nil
}

// twinOfKey is twinOfType for Key and NullKey. A struct that embeds a key is an AnyKey as well, of
// another package.
func twinOfKey(t reflect.Type) any {
	if t.PkgPath() != reflect.TypeFor[sqltype.ID]().PkgPath() {
		return nil
	}
	if _, ok := reflect.Zero(t).Interface().(sqltype.AnyKey); !ok {
		return nil
	}
	if t.Kind() == reflect.Struct {
		return sqltype.NullID{}
	}
	return sqltype.ID(0)
}

func pointerTo(twin any) any {
	switch twin.(type) {
	case sqltype.ID:
		return (*sqltype.ID)(nil)
	case *sqltype.ID:
		return (**sqltype.ID)(nil)
	case sqltype.NullID:
		return (*sqltype.NullID)(nil)
	case []sqltype.ID:
		return (*[]sqltype.ID)(nil)
	case []*sqltype.ID:
		return (*[]*sqltype.ID)(nil)
	case []sqltype.NullID:
		return (*[]sqltype.NullID)(nil)
	}
	return nil
}

func sliceOf(twin any) any {
	switch twin.(type) {
	case sqltype.ID:
		return []sqltype.ID(nil)
	case *sqltype.ID:
		return []*sqltype.ID(nil)
	case sqltype.NullID:
		return []sqltype.NullID(nil)
	}
	return nil
}

// isKey is isID for keys, and isKeyTarget is isTarget.
func isKey(v any) bool       { return isID(twinOf(v)) }
func isKeyTarget(v any) bool { return isTarget(twinOf(v)) }

// asID returns a key with the type of its twin, and other values as they are.
func asID(v any) any {
	if twin := twinOf(v); twin != nil {
		return retyped(v, twin)
	}
	return v
}

// keyType is a type of keys with its twin.
type keyType struct {
	typ  unsafe.Pointer // as in words
	twin any
}

func keyTypeOf(v any) (k keyType, ok bool) {
	k = keyType{wordsOf(v).typ, twinOf(v)}
	return k, k.twin != nil
}

// ids returns v with the type of the twin. No plan of pgx gets a value of another type than the one
// it was made for, but a program's own array might give it one.
func (k keyType) ids(v any) (any, error) {
	if wordsOf(v).typ != k.typ {
		return nil, k.wrong(v)
	}
	return retyped(v, k.twin), nil
}

func (keyType) wrong(v any) error {
	return fmt.Errorf("pgxtype: a plan for another type got %T: %w", v, sqltype.ErrType)
}

// named adds the type of v to an error that does not know it.
func named(err error, v any) error { return fmt.Errorf("%w (%T)", err, v) }

// wrapKey passes a key as an ID to all codecs.
func wrapKey(value any) (pgtype.WrappedEncodePlanNextSetter, any, bool) {
	k, ok := keyTypeOf(value)
	if !ok {
		return nil, nil, false
	}
	switch k.twin.(type) {
	case sqltype.ID, *sqltype.ID, **sqltype.ID, sqltype.NullID, *sqltype.NullID:
		return &encodeKey{keyType: k}, k.twin, true
	}
	return nil, nil, false
}

type encodeKey struct {
	keyType
	next pgtype.EncodePlan
}

func (p *encodeKey) SetNext(next pgtype.EncodePlan) { p.next = next }

func (p *encodeKey) Encode(value any, buf []byte) ([]byte, error) {
	if wordsOf(value).typ != p.typ {
		return nil, p.wrong(value)
	}
	out, err := p.next.Encode(retyped(value, p.twin), buf)
	if err != nil {
		return nil, named(err, value)
	}
	return out, nil
}

// scanKey scans into a *Key, a **Key or a *NullKey by the plan P of the twin *T. It is one
// pointer, so that it needs no memory.
type scanKey[T any, P pgtype.ScanPlan] struct{ typ unsafe.Pointer }

// scanKeyBinary is scanKey for a *Key in the binary format, without a call.
type scanKeyBinary struct{ typ unsafe.Pointer }

func (p scanKeyBinary) Scan(src []byte, target any) error {
	if w := wordsOf(target); w.typ == p.typ && w.data != nil && len(src) == 8 {
		if id := sqltype.ID(binary.BigEndian.Uint64(src)); id >= 0 {
			*(*sqltype.ID)(w.data) = id
			return nil
		}
	}
	return scanKey[sqltype.ID, scanBinary](p).Scan(src, target)
}

// planKey returns the plan for target, or nil if target is no key.
func planKey(target any, format int16) pgtype.ScanPlan {
	typ := wordsOf(target).typ
	switch twinOf(target).(type) {
	case *sqltype.ID:
		return inFormat(format, scanKeyBinary{typ}, scanKey[sqltype.ID, scanText]{typ})
	case **sqltype.ID:
		return inFormat(format, scanKey[*sqltype.ID, scanBinary]{typ}, scanKey[*sqltype.ID, scanText]{typ})
	case *sqltype.NullID:
		return inFormat(format, scanKey[sqltype.NullID, scanBinary]{typ}, scanKey[sqltype.NullID, scanText]{typ})
	}
	return nil
}

func inFormat(format int16, binary, text pgtype.ScanPlan) pgtype.ScanPlan {
	switch format {
	case pgtype.BinaryFormatCode:
		return binary
	case pgtype.TextFormatCode:
		return text
	}
	return nil
}

func (p scanKey[T, P]) Scan(src []byte, target any) error {
	w := wordsOf(target)
	if w.typ != p.typ {
		return fmt.Errorf("pgxtype: scan into %T: %w", target, sqltype.ErrType)
	}
	var plan P
	if err := plan.Scan(src, (*T)(w.data)); err != nil {
		return named(err, target)
	}
	return nil
}
