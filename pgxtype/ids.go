package pgxtype

import (
	"fmt"
	"reflect"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// The id types are sqltype.ID, NullID, and every Key and NullKey. ID and Key are of kind Int64; NullID
// and NullKey are structs of the id and Valid. Arrays and pointers are read and written by these
// kinds; single ids, which are most, by type switches (plan.go), which are faster.

var (
	idType   = reflect.TypeFor[sqltype.ID]()
	nullType = reflect.TypeFor[sqltype.NullID]()
	keyType  = reflect.TypeFor[sqltype.AnyKey]()
)

// base returns the type that t points to, by any number of pointers.
func base(t reflect.Type) reflect.Type {
	for t != nil && t.Kind() == reflect.Pointer && t.Name() == "" {
		t = t.Elem()
	}
	return t
}

// holdsID reports whether t is an id type or points to one. A struct of another package that embeds
// a key has its methods, but is not one.
func holdsID(t reflect.Type) bool {
	t = base(t)
	return t == idType || t == nullType || isKey(t)
}

func isKey(t reflect.Type) bool {
	return t != nil && t.PkgPath() == idType.PkgPath() && t.Kind() != reflect.Interface && t.Implements(keyType)
}

// idOf returns the id in v, whose type holds one. A nil pointer is NULL.
func idOf(v reflect.Value) sqltype.NullID {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return sqltype.NullID{}
		}
		return idOf(v.Elem())
	case reflect.Struct:
		return sqltype.NullID{ID: sqltype.ID(v.Field(0).Int()), Valid: v.Field(1).Bool()}
	}
	return sqltype.NullID{ID: sqltype.ID(v.Int()), Valid: true}
}

// setID writes an id or NULL to v, whose type holds one.
func setID(v reflect.Value, n sqltype.NullID) error {
	switch v.Kind() {
	case reflect.Pointer:
		if !n.Valid {
			v.SetZero()
			return nil
		}
		to := reflect.New(v.Type().Elem())
		v.Set(to)
		return setID(to.Elem(), n)
	case reflect.Struct:
		v.Field(0).SetInt(int64(n.ID))
		v.Field(1).SetBool(n.Valid)
		return nil
	}
	if !n.Valid {
		return fmt.Errorf("pgxtype: scan: %w", sqltype.ErrNull)
	}
	v.SetInt(int64(n.ID))
	return nil
}

// destination returns what the target of a plan for t points to.
func destination(target any, t reflect.Type) (reflect.Value, error) {
	if reflect.TypeOf(target) != t {
		return reflect.Value{}, mismatch(target, t)
	}
	v := reflect.ValueOf(target)
	if v.IsNil() {
		return v, fmt.Errorf("pgxtype: scan: destination %T is %w", target, sqltype.ErrNil)
	}
	return v.Elem(), nil
}

// mismatch is the error of a value that is not of type t. pgx passes a plan only values of the type
// that it was made for, but a program's own array might pass others.
func mismatch(v any, t reflect.Type) error {
	return fmt.Errorf("pgxtype: the plan for %v got %T: %w", t, v, sqltype.ErrType)
}

func negative(op string, id sqltype.ID) error {
	return fmt.Errorf("pgxtype: %s %d: %w", op, int64(id), sqltype.ErrNegative)
}

// named adds the type of a key to an error that does not know it.
func named(err error, t reflect.Type) error {
	elem := base(t)
	if elem.Kind() == reflect.Slice {
		elem = base(elem.Elem())
	}
	if !isKey(elem) {
		return err
	}
	return fmt.Errorf("%w (%v)", err, t)
}
