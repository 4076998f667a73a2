package pgxtype

import (
	"fmt"
	"reflect"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// The id types are sqltype.ID, NullID, and every Key and NullKey. A Key has the memory layout of an ID,
// and a NullKey the layout of a NullID, so keys are read and written as these.

var (
	idType   = reflect.TypeFor[sqltype.ID]()
	nullType = reflect.TypeFor[sqltype.NullID]()
	keyType  = reflect.TypeFor[sqltype.AnyKey]()
)

// isID reports whether t is an id type.
func isID(t reflect.Type) bool { return t == idType || t == nullType || isKey(t) }

// isKey reports whether t is a Key or a NullKey. A struct of another package that embeds a key has its
// methods, but is not a key.
func isKey(t reflect.Type) bool {
	return t.PkgPath() == idType.PkgPath() && t.Kind() != reflect.Interface && t.Implements(keyType)
}

// pointsToID reports whether t is a pointer to an id type.
func pointsToID(t reflect.Type) bool {
	return t != nil && t.Kind() == reflect.Pointer && t.Name() == "" && isID(t.Elem())
}

// isTarget reports whether a plan can scan into t: a pointer to an id type, or to a *ID or a *Key.
func isTarget(t reflect.Type) bool {
	return pointsToID(t) || t != nil && t.Kind() == reflect.Pointer && pointsToID(t.Elem()) && t.Elem().Elem().Kind() == reflect.Int64
}

// idOf returns the id in v, which is of an id type or points to one. A nil pointer is NULL.
func idOf(v reflect.Value) sqltype.NullID {
	switch {
	case v.Kind() == reflect.Int64:
		return sqltype.NullID{ID: sqltype.ID(v.Int()), Valid: true}
	case v.Kind() == reflect.Struct:
		return sqltype.NullID{ID: sqltype.ID(v.Field(0).Int()), Valid: v.Field(1).Bool()}
	case v.IsNil():
		return sqltype.NullID{}
	}
	return idOf(v.Elem())
}

// checkTarget returns an error unless a plan for t can write to target. pgx passes only values of the
// plan's type, but a program's own array type might pass others.
func checkTarget(target any, t reflect.Type) error {
	if reflect.TypeOf(target) != t {
		return mismatch(target, t)
	}
	if reflect.ValueOf(target).IsNil() {
		return fmt.Errorf("pgxtype: scan: destination %T is %w", target, sqltype.ErrNil)
	}
	return nil
}

func mismatch(v any, t reflect.Type) error {
	return fmt.Errorf("pgxtype: the plan for %v got %T: %w", t, v, sqltype.ErrType)
}

func negative(op string, id sqltype.ID, t reflect.Type) error {
	return fmt.Errorf("pgxtype: %s %d (%v): %w", op, int64(id), t, sqltype.ErrNegative)
}
