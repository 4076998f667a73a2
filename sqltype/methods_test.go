package sqltype_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// nullV2 are the methods of a NullID and a NullKey for encoding/json/v2.
var nullV2 []string

// The methods are the contract: one more (MarshalJSON, LogValue, MarshalBinary)
// changes what encoders do, one less breaks a user. An ID must not have MarshalJSONTo and
// UnmarshalJSONFrom: encoding/json/v2 is faster without them.
func TestMethodSet(t *testing.T) {
	id := []string{
		"String", "Format", "AppendText", "MarshalText", "IsZero", "Compare", "Int64", "Value", "GormDataType",
		"MarshalGQLContext",
	}
	short := []string{"Base32", "Bitcoin58", "Base62", "AppendBase32", "AppendBitcoin58", "AppendBase62"} // not of a Key, which may have a Form
	null := []string{
		"String", "Format", "AppendText", "MarshalText", "MarshalJSON", "IsZero", "Value", "GormDataType",
		"MarshalGQLContext",
	}
	null = append(null, nullV2...)
	decode := []string{
		"UnmarshalText", "UnmarshalJSON", "UnmarshalParam", "Bind", "Scan",
		"UnmarshalGQLContext",
		"MarshalXMLAttr", // of pointers, for a nil one
	}
	for _, tt := range []struct {
		typ  reflect.Type
		want []string
	}{
		{reflect.TypeFor[sqltype.ID](), slices.Concat(id, short)},
		{reflect.TypeFor[*sqltype.ID](), slices.Concat(id, short, decode)},
		{reflect.TypeFor[sqltype.NullID](), null},
		{reflect.TypeFor[*sqltype.NullID](), slices.Concat(null, decode)},
		{reflect.TypeFor[sqltype.Key[int]](), append([]string{"ID"}, id...)},
		{reflect.TypeFor[*sqltype.Key[int]](), slices.Concat([]string{"ID"}, id, decode)},
		{reflect.TypeFor[sqltype.NullKey[int]](), null},
		{reflect.TypeFor[*sqltype.NullKey[int]](), slices.Concat(null, decode)},
	} {
		t.Run(fmt.Sprint(tt.typ), func(t *testing.T) {
			var got []string
			for i := range tt.typ.NumMethod() {
				got = append(got, tt.typ.Method(i).Name)
			}
			slices.Sort(tt.want)
			if !slices.Equal(got, tt.want) {
				t.Errorf("%v has %q, want %q", tt.typ, got, tt.want)
			}
		})
	}
	if kind := reflect.TypeFor[sqltype.ID]().Kind(); kind != reflect.Int64 {
		t.Errorf("an ID is a %v: binders that go by the kind would pass over it", kind)
	}
}
