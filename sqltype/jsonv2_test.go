//go:build go1.27 && goexperiment.jsonv2

package sqltype

import (
	"bytes"
	"encoding/json"
	"encoding/json/jsontext"
	jsonv2 "encoding/json/v2"
	"slices"
	"testing"
)

func TestJSONv2KeyNumber(t *testing.T) {
	testKeyNumber(t, func(data []byte, into any) error { return jsonv2.Unmarshal(data, into) })
}

// A NullID and a NullKey are written alike by both packages, in every place and with the options that change
// how a value is written.
func TestJSONv2Null(t *testing.T) {
	kinds(t, testJSONv2Null[NullID], testJSONv2Null[plainNull])
}

func testJSONv2Null[N nullKind](t *testing.T) {
	null := nullOf[N](0, false)
	for _, tt := range []struct {
		v    any
		want string
	}{
		{null, `null`},
		{nullOf[N](-7, false), `null`},
		{some[N](0), `"0"`},
		{ptr(some[N](7)), `"7"`},
		{(*N)(nil), `null`},
		{[]N{null, some[N](7), some[N](8)}, `[null,"7","8"]`},
		{map[string]N{"a": some[N](7)}, `{"a":"7"}`},
		{map[N]N{some[N](7): null}, `{"7":null}`},
		{struct{ A any }{some[N](7)}, `{"A":"7"}`},
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
	got, err := jsonv2.Marshal([]N{null, some[N](7)}, jsontext.WithIndent(" "))
	if want := "[\n null,\n \"7\"\n]"; err != nil || string(got) != want {
		t.Errorf("indented: %s, %v", got, err)
	}
	if got, err := jsonv2.Marshal(map[N]int{null: 1}); err == nil {
		t.Errorf("NULL as a key: %s", got)
	}
	if got, err := json.Marshal(map[N]int{null: 1}); err != nil || string(got) != `{"":1}` {
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
	t.Run("Key", func(t *testing.T) { allocationsOf(t, plainKey(1996573624012345677)) })
	t.Run("NullKey", func(t *testing.T) { allocationsOf(t, plainNull{1996573624012345677, true}) })
	t.Run("prefixed Key", func(t *testing.T) { allocationsOf(t, Key[prefixedRow](1996573624012345677)) })
	t.Run("prefixed NullKey", func(t *testing.T) { allocationsOf(t, NullKey[prefixedRow]{1996573624012345677, true}) })
}

// allocationsOf compares a list of ids with an empty one. Under the race detector, pools are emptied
// now and then.
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
		if got := testing.AllocsPerRun(10, func() { errSink = unmarshal(text, &list) }); got > empty+2 || errSink != nil {
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
	if got, empty := write(list), write(nil); got > empty+2 || errSink != nil {
		t.Errorf("v2 writes with %v allocations, %v; no ids with %v", got, errSink, empty)
	}
}
