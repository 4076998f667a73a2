package pgxtype

import (
	"reflect"
	"testing"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type (
	key = sqltype.Key[int]
)

// What looks like an id type, or like a slice of one, but is none.
func TestNoIDs(t *testing.T) {
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
		likeNull struct {
			sqltype.Key[int]
			Valid bool
		}
	)
	for _, v := range []any{
		nil, 7, int64(7), "x", true, []any{key(7)}, []int64{7}, [][]key{{7}}, [1]key{7}, map[key]int{}, struct{}{}, sqltype.Form{}, &sqltype.Form{},
		named(7), new(named), list{7}, new(list), embedded{7}, &embedded{7}, []embedded{{7}}, like{}, &like{}, []*like{}, likeNull{}, struct{ sqltype.AnyKey }{key(7)},
		pointer(nil), slice{}, toKey(new(key)), new(any), (*sqltype.AnyKey)(nil), []sqltype.AnyKey{key(7)},
	} {
		if typ := reflect.TypeOf(v); typ != nil && isID(typ) || pointsToID(typ) || isSlice(typ) {
			t.Errorf("%T is taken for an id", v)
		}
	}
}
