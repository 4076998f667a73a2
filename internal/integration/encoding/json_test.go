package encoding

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// The shapes in which a program holds ids.
type (
	field struct {
		ID ID `json:"id"`
	}
	pointer struct {
		ID *ID `json:"id"`
	}
	null struct {
		ID NullID `json:"id"`
	}
	exact    = sqltype.Exact[field]
	anything struct {
		ID any `json:"id"`
	}
	embedding struct {
		ID
		Name string
	}
	empty struct {
		ID ID `json:"id,omitempty"`
	}
	zero struct {
		ID ID `json:"id,omitzero"`
	}
	both struct {
		ID ID `json:"id,omitempty,omitzero"`
	}
	emptyPtr struct {
		ID *ID `json:"id,omitempty"`
	}
	emptyNull struct {
		ID NullID `json:"id,omitempty"`
	}
	zeroNull struct {
		ID NullID `json:"id,omitzero"`
	}
	bothNull struct {
		ID NullID `json:"id,omitempty,omitzero"`
	}
	keyed struct {
		ID     Key     `json:"id"`
		Parent NullKey `json:"parent"`
		Ptr    *Key    `json:"ptr"`
	}
	bothKeys struct {
		ID     Key     `json:"id,omitempty,omitzero"`
		Parent NullKey `json:"parent,omitzero"`
		Ptr    *Key    `json:"ptr,omitempty"`
	}
)

func TestJSONEncode(t *testing.T) {
	for _, c := range codecs() {
		t.Run(c.name, func(t *testing.T) {
			for _, tt := range []struct {
				name    string
				v       any
				want    string
				departs map[string]string // what another package writes
			}{
				{"value", ID(7), `"7"`, nil},
				{"largest", ID(math.MaxInt64), `"9223372036854775807"`, nil},
				{"pointer", ptr(ID(7)), `"7"`, nil},
				{"nil pointer", (*ID)(nil), `null`, nil},
				{"field", field{math.MaxInt64}, `{"id":"9223372036854775807"}`, nil},
				{"pointer field", pointer{ptr(ID(7))}, `{"id":"7"}`, nil},
				{"nil pointer field", pointer{}, `{"id":null}`, nil},
				{"slice", []ID{1, math.MaxInt64}, `["1","9223372036854775807"]`, nil},
				{"nil slice", []ID(nil), `null`, map[string]string{two: `[]`}},
				{"slice of pointers", []*ID{ptr(ID(7)), nil}, `["7",null]`, nil},
				{"map key", map[ID]int{math.MaxInt64: 1}, `{"9223372036854775807":1}`, nil},
				{"any", anything{ID(7)}, `{"id":"7"}`, nil},
				{"slice of any", []any{ID(7), NullID{}}, `["7",null]`, nil},
				{"NullID", NullID{ID: 7, Valid: true}, `"7"`, nil},
				{"NullID field", null{NullID{ID: math.MaxInt64, Valid: true}}, `{"id":"9223372036854775807"}`, nil},
				{"slice of NullID", []NullID{{}, {ID: 7, Valid: true}}, `[null,"7"]`, nil},
				{"map key NullID", map[NullID]int{{ID: 7, Valid: true}: 1}, `{"7":1}`, nil},

				{"Key", Plain(7), `"7"`, nil},
				{"prefixed Key", Key(math.MaxInt64), `"ord_7zzzzzzzzzzzz"`, nil},
				{"nil Key pointer", (*Key)(nil), `null`, nil},
				{"Key fields", keyed{7, NullKey{Key: 8, Valid: true}, ptr(Key(9))},
					`{"id":"ord_0000000000007","parent":"ord_0000000000008","ptr":"ord_0000000000009"}`, nil},
				{"slice of Keys", []Key{1}, `["ord_0000000000001"]`, nil},
				{"slice of NullKey", []NullKey{{}, {Key: 7, Valid: true}}, `[null,"ord_0000000000007"]`, nil},
				{"map key and value Key", map[Key]Plain{7: 8}, `{"ord_0000000000007":"8"}`, nil},
				{"map key NullKey", map[NullKey]int{{Key: 7, Valid: true}: 1}, `{"ord_0000000000007":1}`, nil},
				{"any with a Key", anything{Key(7)}, `{"id":"ord_0000000000007"}`, nil},
				{"omitted Keys", bothKeys{}, `{}`, map[string]string{iter: `{"parent":null}`, iterC: `{"parent":null}`, segm: `{"parent":null}`}},

				// Which option leaves an unset id out?
				{"omitempty", empty{}, `{}`, map[string]string{two: `{"id":"0"}`}},
				{"omitzero", zero{}, `{}`, map[string]string{iter: `{"id":"0"}`, iterC: `{"id":"0"}`, segm: `{"id":"0"}`}},
				{"omitempty,omitzero", both{}, `{}`, nil},
				{"omitempty, nil pointer", emptyPtr{}, `{}`, nil},
				{"omitempty, NULL", emptyNull{}, `{"id":null}`, map[string]string{two: `{}`}},
				{"omitzero, NULL", zeroNull{}, `{}`, map[string]string{iter: `{"id":null}`, iterC: `{"id":null}`, segm: `{"id":null}`}},
				{"omitempty,omitzero, NULL", bothNull{}, `{}`, map[string]string{iter: `{"id":null}`, iterC: `{"id":null}`, segm: `{"id":null}`}},
				{"omitempty, pointer to zero", emptyPtr{ptr(ID(0))}, `{"id":"0"}`, nil},
				{"omitzero, a NullID of zero", zeroNull{NullID{Valid: true}}, `{"id":"0"}`, nil},

				// An embedded ID lends its methods to the struct, whose other fields are lost.
				{"embedded", embedding{7, "x"}, `"7"`, nil},
			} {
				want := tt.want
				if other, ok := tt.departs[c.name]; ok {
					want = other
				}
				if got, err := c.marshal(tt.v); err != nil || string(got) != want {
					t.Errorf("%s: %s, %v; want %s", tt.name, got, err, want)
				}
			}
			// A negative id is not written, in whatever shape.
			for _, v := range []any{
				ID(-7), field{-7}, pointer{ptr(ID(-7))}, []ID{1, -7}, map[ID]int{-7: 1}, map[string]any{"a": ID(-7)},
				NullID{ID: -7, Valid: true}, null{NullID{ID: -7, Valid: true}},
				Key(-7), keyed{ID: -7}, keyed{Ptr: ptr(Key(-7))}, NullKey{Key: -7, Valid: true}, []Plain{-7},
			} {
				got, err := c.marshal(v)
				if err == nil || !strings.Contains(err.Error(), "sqltype: encode -7: ") {
					t.Errorf("%T: %s, %v", v, got, err)
				}
				_, key := v.(map[ID]int) // encoding/json does not wrap a key's error
				if c.is && (!key || c.name != std) && !errors.Is(err, sqltype.ErrNegative) {
					t.Errorf("%T: %v is not ErrNegative", v, err)
				}
			}
		})
	}
}

func TestJSONDecode(t *testing.T) {
	for _, c := range codecs() {
		t.Run(c.name, func(t *testing.T) {
			for _, tt := range []struct {
				name string
				in   string
				into any // a pointer to what is there before
				want any
			}{
				{"string", `{"id":"9223372036854775807"}`, &field{42}, field{math.MaxInt64}},
				{"number", `{"id":9007199254740991}`, &field{42}, field{1<<53 - 1}},
				{"Exact, number", `{"id":9223372036854775807}`, &exact{}, exact{V: field{math.MaxInt64}}},
				{"zero", `{"id":0}`, &field{42}, field{0}},
				{"null", `{"id":null}`, &field{42}, field{42}},
				{"pointer, string", `{"id":"7"}`, &pointer{}, pointer{ptr(ID(7))}},
				{"pointer, number", `{"id":7}`, &pointer{}, pointer{ptr(ID(7))}},
				{"pointer, null", `{"id":null}`, &pointer{ptr(ID(42))}, pointer{}},
				{"NullID, string", `{"id":"7"}`, &null{}, null{NullID{ID: 7, Valid: true}}},
				{"NullID, number", `{"id":7}`, &null{}, null{NullID{ID: 7, Valid: true}}},
				{"NullID, null", `{"id":null}`, &null{NullID{ID: 42, Valid: true}}, null{}},
				{"any", `{"id":"9223372036854775807"}`, &anything{}, anything{"9223372036854775807"}},
				{"slice", `["1",2,null]`, &[]ID{}, []ID{1, 2, 0}},
				{"slice of pointers", `["1",2,null]`, &[]*ID{}, []*ID{ptr(ID(1)), ptr(ID(2)), nil}},
				{"slice of NullID", `["1",2,null]`, &[]NullID{}, []NullID{{ID: 1, Valid: true}, {ID: 2, Valid: true}, {}}},
				{"map key and value", `{"9223372036854775807":"8","9":10}`, &map[ID]ID{}, map[ID]ID{math.MaxInt64: 8, 9: 10}},
				{"map key NullID", `{"7":1}`, &map[NullID]int{}, map[NullID]int{{ID: 7, Valid: true}: 1}},
				{"Key, number", `9007199254740991`, ptr(Plain(0)), Plain(1<<53 - 1)},
				{"prefixed Key", `"ord_7zzzzzzzzzzzz"`, ptr(Key(0)), Key(math.MaxInt64)},
				{"Key fields", `{"id":"ord_0000000000007","parent":"ord_0000000000008","ptr":"ord_0000000000009"}`,
					&keyed{}, keyed{7, NullKey{Key: 8, Valid: true}, ptr(Key(9))}},
				{"null into Key fields", `{"id":null,"parent":null,"ptr":null}`,
					&keyed{7, NullKey{Key: 8, Valid: true}, ptr(Key(9))}, keyed{ID: 7}},
				{"slice of NullKey", `["ord_0000000000001",null]`, &[]NullKey{}, []NullKey{{Key: 1, Valid: true}, {}}},
				{"map key and value Key", `{"ord_0000000000007":8}`, &map[Key]Plain{}, map[Key]Plain{7: 8}},
			} {
				into := reflect.New(reflect.TypeOf(tt.into).Elem()) // a copy, for this package alone
				into.Elem().Set(reflect.ValueOf(tt.into).Elem())
				err := c.unmarshal([]byte(tt.in), into.Interface())
				if got := into.Elem().Interface(); err != nil || !reflect.DeepEqual(got, tt.want) {
					t.Errorf("%s: %+v, %v; want %+v", tt.name, got, err, tt.want)
				}
			}
			for _, number := range []string{"9007199254740992", "1996573624012345600"} { // perhaps of JavaScript
				for _, into := range []any{&field{42}, &null{NullID{ID: 42, Valid: true}}, &pointer{}, &keyed{42, NullKey{}, nil}} {
					if err := c.unmarshal([]byte(`{"id":`+number+`}`), into); err == nil {
						t.Errorf("%s into %+v", number, into)
					}
				}
			}
		})
	}
}
