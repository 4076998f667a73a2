//go:build goexperiment.jsonv2

package sqltype

import (
	jsonv2 "encoding/json/v2"
	"errors"
	"reflect"
	"testing"
)

func TestJSONv2(t *testing.T) {
	in := document{ID: 1 << 60, Ptr: ptr(8), Null: NullID{9, true}, List: []ID{1}, Keys: map[ID]string{7: "x"}}
	const want = `{"id":"1152921504606846976","ptr":"8","null":"9","list":["1"],"keys":{"7":"x"},"any":null,"array":["0","0"]}`
	got, err := jsonv2.Marshal(in)
	if err != nil || string(got) != want {
		t.Fatalf("%s, %v", got, err)
	}
	var out document
	if err := jsonv2.Unmarshal(got, &out); err != nil || !reflect.DeepEqual(in, out) {
		t.Errorf("%+v, %v", out, err)
	}
	for _, tt := range jsons {
		id := ID(42)
		if err := jsonv2.Unmarshal([]byte(tt.in), &id); (err != nil) != (tt.err != nil) && tt.in != " 7" {
			t.Errorf("%s: %d, %v", tt.in, id, err)
		}
	}
	if _, err := jsonv2.Marshal(ID(-1)); !errors.Is(err, ErrNegative) {
		t.Error(err)
	}
	omitted, err := jsonv2.Marshal(struct {
		A ID     `json:"a,omitempty"` // "0" is no empty JSON value
		B ID     `json:"b,omitempty,omitzero"`
		C NullID `json:"c,omitempty"`
	}{})
	if err != nil || string(omitted) != `{"a":"0"}` {
		t.Errorf("%s, %v", omitted, err)
	}
}
