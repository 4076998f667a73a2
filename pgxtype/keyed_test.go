package pgxtype_test

import (
	"database/sql"
	"reflect"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type (
	order   struct{}
	Key     = sqltype.Key[order]
	NullKey = sqltype.NullKey[order]
)

// The tables of these tests are of ids. Each row runs again with keys in their place: keyed
// returns a value with keys for its ids, in the same memory if it is a pointer.
func keyed(v any) any {
	t := reflect.TypeOf(v)
	if t == nil || typeOfKeys(t) == t {
		return v
	}
	if t.Kind() == reflect.Pointer {
		return reflect.NewAt(typeOfKeys(t.Elem()), reflect.ValueOf(v).UnsafePointer()).Interface()
	}
	p := reflect.New(t)
	p.Elem().Set(reflect.ValueOf(v))
	return reflect.ValueOf(keyed(p.Interface())).Elem().Interface()
}

// same is like keyed, for ids.
func same(v any) any { return v }

var kinds = map[string]func(any) any{"ids": same, "keys": keyed}

func each(as func(any) any, values []any) []any {
	out := make([]any, len(values))
	for i, v := range values {
		out[i] = as(v)
	}
	return out
}

// typeOfKeys returns the type with keys for the ids of t, or t if it has no ids.
func typeOfKeys(t reflect.Type) reflect.Type {
	for _, pair := range [][2]reflect.Type{
		{reflect.TypeFor[ID](), reflect.TypeFor[Key]()},
		{reflect.TypeFor[NullID](), reflect.TypeFor[NullKey]()},
		{reflect.TypeFor[sql.Null[ID]](), reflect.TypeFor[sql.Null[Key]]()},
		{reflect.TypeFor[pgtype.Array[ID]](), reflect.TypeFor[pgtype.Array[Key]]()},
		{reflect.TypeFor[pgtype.Array[*ID]](), reflect.TypeFor[pgtype.Array[*Key]]()},
		{reflect.TypeFor[pgtype.Array[NullID]](), reflect.TypeFor[pgtype.Array[NullKey]]()},
		{reflect.TypeFor[pgtype.FlatArray[ID]](), reflect.TypeFor[pgtype.FlatArray[Key]]()},
		{reflect.TypeFor[pgtype.FlatArray[*ID]](), reflect.TypeFor[pgtype.FlatArray[*Key]]()},
	} {
		if t == pair[0] {
			return pair[1]
		}
	}
	if t.PkgPath() != "" && t.Kind() != reflect.Struct {
		return t
	}
	switch t.Kind() {
	case reflect.Pointer:
		return reflect.PointerTo(typeOfKeys(t.Elem()))
	case reflect.Slice:
		return reflect.SliceOf(typeOfKeys(t.Elem()))
	case reflect.Array:
		return reflect.ArrayOf(t.Len(), typeOfKeys(t.Elem()))
	case reflect.Struct:
		changed := false
		var fields []reflect.StructField
		for i := range t.NumField() {
			f := t.Field(i)
			k := typeOfKeys(f.Type)
			changed = changed || k != f.Type
			f.Type = k
			fields = append(fields, f)
		}
		if changed {
			return reflect.StructOf(fields)
		}
	}
	return t
}
