//go:build goexperiment.jsonv2

package sqltype

import (
	"bytes"
	"encoding/json"
	"encoding/json/jsontext"
	jsonv2 "encoding/json/v2"
	"errors"
	"reflect"
	"slices"
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
	for _, v := range []any{ID(-1), NullID{-1, true}, []NullID{{7, true}, {-1, true}}} {
		if got, err := jsonv2.Marshal(v); !errors.Is(err, ErrNegative) {
			t.Errorf("%T: %s, %v", v, got, err)
		}
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

// A NullID is written alike by both packages, in every place and with the options that change
// how a value is written.
func TestJSONv2NullID(t *testing.T) {
	for _, tt := range []struct {
		v    any
		want string
	}{
		{NullID{}, `null`},
		{NullID{ID: -7}, `null`},
		{NullID{0, true}, `"0"`},
		{&NullID{7, true}, `"7"`},
		{(*NullID)(nil), `null`},
		{[]NullID{{}, {7, true}, {8, true}}, `[null,"7","8"]`},
		{map[string]NullID{"a": {7, true}}, `{"a":"7"}`},
		{map[NullID]NullID{{7, true}: {}}, `{"7":null}`},
		{struct{ A any }{NullID{7, true}}, `{"A":"7"}`},
	} {
		t.Run(tt.want, func(t *testing.T) {
			for name, marshal := range map[string]func(any) ([]byte, error){
				"v1":      json.Marshal,
				"v2":      func(v any) ([]byte, error) { return jsonv2.Marshal(v) },
				"numbers": func(v any) ([]byte, error) { return jsonv2.Marshal(v, jsonv2.StringifyNumbers(true)) },
				"html":    func(v any) ([]byte, error) { return jsonv2.Marshal(v, jsontext.EscapeForHTML(true)) },
			} {
				if got, err := marshal(tt.v); err != nil || string(got) != tt.want {
					t.Errorf("%s: %s, %v", name, got, err)
				}
			}
		})
	}
	got, err := jsonv2.Marshal([]NullID{{}, {7, true}}, jsontext.WithIndent(" "))
	if want := "[\n null,\n \"7\"\n]"; err != nil || string(got) != want {
		t.Errorf("indented: %s, %v", got, err)
	}
	if got, err := jsonv2.Marshal(map[NullID]int{{}: 1}); err == nil {
		t.Errorf("NULL as a key: %s", got)
	}
	if got, err := json.Marshal(map[NullID]int{{}: 1}); err != nil || string(got) != `{"":1}` {
		t.Errorf("NULL as a key, v1: %s, %v", got, err)
	}
}

func TestJSONv2Allocations(t *testing.T) {
	if testing.CoverMode() != "" {
		t.Skip("coverage changes what escapes")
	}
	t.Run("ID", func(t *testing.T) { allocationsOf(t, ID(1996573624012345677)) })
	t.Run("NullID", func(t *testing.T) { allocationsOf(t, NullID{1996573624012345677, true}) })
	t.Run("NULL", func(t *testing.T) { allocationsOf(t, NullID{}) })
}

// allocationsOf compares a list of ids with an empty one.
func allocationsOf[T any](t *testing.T, id T) {
	list := slices.Repeat([]T{id}, 300)
	text, err := jsonv2.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	for name, unmarshal := range map[string]func([]byte, any) error{
		"v1": json.Unmarshal,
		"v2": func(data []byte, v any) error { return jsonv2.Unmarshal(data, v) },
	} {
		empty := testing.AllocsPerRun(10, func() { errSink = unmarshal([]byte("[]"), &list) })
		if got := testing.AllocsPerRun(10, func() { errSink = unmarshal(text, &list) }); got > empty || errSink != nil {
			t.Errorf("%s reads with %v allocations, %v; no ids with %v", name, got, errSink, empty)
		}
	}
	out := bytes.NewBuffer(make([]byte, 0, 2*len(text)))
	write := func(list []T) float64 {
		return testing.AllocsPerRun(10, func() {
			out.Reset()
			errSink = jsonv2.MarshalWrite(out, &list)
		})
	}
	if got, empty := write(list), write(nil); got > empty || errSink != nil {
		t.Errorf("v2 writes with %v allocations, %v; no ids with %v", got, errSink, empty)
	}
}
