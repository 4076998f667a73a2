package pgxtype

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type (
	key     = sqltype.Key[int]
	nullKey = sqltype.NullKey[int]
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
	)
	for _, v := range []any{
		nil, 7, int64(7), "x", true, []any{key(7)}, []int64{7}, [][]key{{7}}, [1]key{7}, map[key]int{}, struct{}{}, sqltype.Form{}, &sqltype.Form{},
		named(7), new(named), list{7}, new(list), embedded{7}, &embedded{7}, []embedded{{7}}, like{}, &like{}, []*like{},
		pointer(nil), slice{}, toKey(new(key)), new(any), (*sqltype.AnyKey)(nil), []sqltype.AnyKey{key(7)},
	} {
		if typ := reflect.TypeOf(v); holdsID(typ) || isSlice(typ) {
			t.Errorf("%T is taken for an id", v)
		}
	}
}

// byElement is a plan that gives the head of an empty array, and must not be needed for more.
type byElement struct{ t *testing.T }

func (p byElement) Encode(value any, buf []byte) ([]byte, error) {
	if a := value.(pgtype.ArrayGetter); a.Dimensions()[0].Length > 0 {
		p.t.Error("encoded element by element")
	}
	return pgtype.NewMap().Encode(pgtype.Int8ArrayOID, pgtype.BinaryFormatCode, []int64{}, buf)
}

func (p byElement) Scan([]byte, any) error {
	p.t.Error("scanned element by element")
	return nil
}

// pgx's own loop over the elements never sees a well-formed array of bigint.
func TestArrayInOneLoop(t *testing.T) {
	id, k := sqltype.ID(7), key(7)
	for _, value := range []any{
		[]sqltype.ID{7, 8}, []*sqltype.ID{&id, nil}, []sqltype.NullID{{ID: 7, Valid: true}, {}},
		[]key{7, 8}, []*key{&k, nil}, []nullKey{{Key: 7, Valid: true}, {}},
	} {
		t.Run(fmt.Sprintf("%T", value), func(t *testing.T) {
			target := reflect.New(reflect.TypeOf(value)).Interface()
			encode, _, _ := wrapSlice(value)
			scan, _, _ := wrapSliceTarget(target)
			encode.SetNext(byElement{t})
			scan.SetNext(byElement{t})
			b, err := encode.Encode(value, nil)
			if err == nil {
				err = scan.Scan(b, target)
			}
			if got := reflect.ValueOf(target).Elem().Interface(); err != nil || !reflect.DeepEqual(got, value) {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
}
