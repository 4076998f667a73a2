package pgxtype

import (
	"fmt"
	"reflect"
	"testing"
	"unsafe"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type (
	key     = sqltype.Key[int]
	nullKey = sqltype.NullKey[int]
)

// keys.go gives a key the type of an id. Both must have one layout, and an any the layout of words.
func TestTwinsHaveOneLayout(t *testing.T) {
	if unsafe.Sizeof(words{}) != reflect.TypeFor[any]().Size() {
		t.Fatalf("an any has %d bytes", reflect.TypeFor[any]().Size())
	}
	k, n := key(1<<62+7), nullKey{Key: 8, Valid: true}
	pk, pn := &k, &n
	keys, pointers, nulls := []key{k, 9}, []*key{pk, nil}, []nullKey{n, {}}
	for _, tt := range []struct{ keys, ids any }{
		{k, sqltype.ID(k)}, {pk, (*sqltype.ID)(pk)}, {&pk, (**sqltype.ID)(unsafe.Pointer(&pk))},
		{n, sqltype.NullID{ID: 8, Valid: true}}, {pn, (*sqltype.NullID)(unsafe.Pointer(pn))},
		{keys, []sqltype.ID{sqltype.ID(k), 9}}, {&keys, (*[]sqltype.ID)(unsafe.Pointer(&keys))},
		{pointers, []*sqltype.ID{(*sqltype.ID)(pk), nil}}, {&pointers, (*[]*sqltype.ID)(unsafe.Pointer(&pointers))},
		{nulls, []sqltype.NullID{{ID: 8, Valid: true}, {}}}, {&nulls, (*[]sqltype.NullID)(unsafe.Pointer(&nulls))},
		{[]key(nil), []sqltype.ID(nil)}, {(*key)(nil), (*sqltype.ID)(nil)},
	} {
		t.Run(fmt.Sprintf("%T", tt.keys), func(t *testing.T) {
			sameLayout(t, reflect.TypeOf(tt.keys), reflect.TypeOf(tt.ids))
			if got := asID(tt.keys); !reflect.DeepEqual(got, tt.ids) {
				t.Errorf("%T %v, want %T %v", got, got, tt.ids, tt.ids)
			}
			if got := retyped(asID(tt.keys), tt.keys); !reflect.DeepEqual(got, tt.keys) {
				t.Errorf("and back: %T %v", got, got)
			}
		})
	}
}

func sameLayout(t *testing.T, a, b reflect.Type) {
	t.Helper()
	if a.Kind() != b.Kind() || a.Size() != b.Size() || a.Align() != b.Align() {
		t.Fatalf("%v is a %v of %d bytes, %v a %v of %d", a, a.Kind(), a.Size(), b, b.Kind(), b.Size())
	}
	switch a.Kind() {
	case reflect.Pointer, reflect.Slice:
		sameLayout(t, a.Elem(), b.Elem())
	case reflect.Struct:
		if a.NumField() != b.NumField() {
			t.Fatalf("%v has %d fields, %v has %d", a, a.NumField(), b, b.NumField())
		}
		for i := range a.NumField() {
			if a.Field(i).Offset != b.Field(i).Offset {
				t.Errorf("%v: %v, %v: %v", a, a.Field(i), b, b.Field(i))
			}
			sameLayout(t, a.Field(i).Type, b.Field(i).Type)
		}
	}
}

// What is no key has no twin.
func TestNoTwin(t *testing.T) {
	type (
		named    key
		pointer  *pointer
		slice    []slice
		toKey    *key
		list     []key
		embedded struct{ sqltype.Key[int] }
		like     struct {
			Key   key
			Valid bool
		}
	)
	for _, v := range []any{
		nil, 7, int64(7), "x", true, []any{key(7)}, []int64{7}, [][]key{{7}}, [1]key{7}, map[key]int{}, struct{}{},
		sqltype.ID(7), sqltype.NullID{}, []sqltype.ID{7}, new(sqltype.ID), new(*sqltype.ID), sqltype.Form{}, &sqltype.Form{},
		named(7), new(named), list{7}, new(list), embedded{7}, &embedded{7}, []embedded{{7}}, like{}, &like{}, []*like{},
		new(**key), []**key{}, []*nullKey{}, pointer(nil), slice{}, toKey(new(key)), new(any), (*sqltype.AnyKey)(nil), []sqltype.AnyKey{key(7)},
	} {
		t.Run(fmt.Sprintf("%T", v), func(t *testing.T) {
			if twin := twinOf(v); twin != nil {
				t.Errorf("%T has the twin %T", v, twin)
			}
		})
	}
}
