package sqltype

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
)

// jsons is what UnmarshalJSON itself is given; the strings are taken from texts too.
var jsons = []struct {
	in   string
	want ID
	err  error
}{
	{`7`, 7, nil},
	{`0`, 0, nil},
	{`"7"`, 7, nil},
	{`9007199254740993`, 1<<53 + 1, nil}, // what a float64 would round
	{maxText, math.MaxInt64, nil},
	{`"` + maxText + `"`, math.MaxInt64, nil},
	{overText, 0, ErrRange},
	{`null`, 42, nil},
	{`"null"`, 0, ErrSyntax},
	{`-7`, 0, ErrNegative},
	{`"-7"`, 0, ErrNegative},
	{`-0`, 0, ErrSyntax},
	{`+7`, 0, ErrSyntax},
	{`7.0`, 0, ErrSyntax},
	{`7e0`, 0, ErrSyntax},
	{`1E3`, 0, ErrSyntax},
	{`0x7`, 0, ErrSyntax},
	{`007`, 0, ErrSyntax},
	{`"007"`, 0, ErrSyntax},
	{`"\u0031"`, 0, ErrSyntax},
	{`"7`, 0, ErrSyntax},
	{`7"`, 0, ErrSyntax},
	{`"`, 0, ErrSyntax},
	{`""`, 0, ErrSyntax},
	{`" 7"`, 0, ErrSyntax},
	{`""7""`, 0, ErrSyntax},
	{``, 0, ErrSyntax},
	{` 7`, 0, ErrSyntax},
	{`true`, 0, ErrSyntax},
	{`false`, 0, ErrSyntax},
	{`[]`, 0, ErrSyntax},
	{`[7]`, 0, ErrSyntax},
	{`{}`, 0, ErrSyntax},
	{`{"id":7}`, 0, ErrSyntax},
}

func TestUnmarshalJSON(t *testing.T) {
	type row struct {
		in   string
		want ID
		err  error
	}
	rows := make([]row, 0, len(jsons)+len(texts))
	for _, tt := range jsons {
		rows = append(rows, row(tt))
	}
	for _, tt := range texts {
		rows = append(rows, row{`"` + tt.in + `"`, tt.want, tt.err})
	}
	for _, tt := range rows {
		id, want := ID(42), tt.want
		if tt.err != nil {
			want = 42
		}
		checkError(t, id.UnmarshalJSON([]byte(tt.in)), tt.err, tt.in)
		if id != want {
			t.Errorf("%.40s: id is %d, want %d", tt.in, id, want)
		}
		// Through encoding/json an error may be the parser's own, found before or after
		// the id was read.
		id = 42
		if err := json.Unmarshal([]byte(tt.in), &id); (err != nil) != (tt.err != nil) && tt.in != " 7" {
			t.Errorf("json.Unmarshal %.40s: %v", tt.in, err)
		} else if errors.Is(err, tt.err) && err != nil && id != 42 {
			t.Errorf("json.Unmarshal %.40s: id is %d after %v", tt.in, id, err)
		}
	}
}

type document struct {
	ID    ID            `json:"id"`
	Ptr   *ID           `json:"ptr"`
	Null  NullID        `json:"null"`
	List  []ID          `json:"list"`
	Keys  map[ID]string `json:"keys"`
	Any   any           `json:"any"`
	Array [2]ID         `json:"array"`
}

func TestJSONDocument(t *testing.T) {
	in := document{
		ID: math.MaxInt64, Ptr: ptr(8), Null: NullID{9, true}, List: []ID{1, 2},
		Keys: map[ID]string{1 << 60: "x"}, Any: ID(3), Array: [2]ID{4, 5},
	}
	const want = `{"id":"9223372036854775807","ptr":"8","null":"9","list":["1","2"],` +
		`"keys":{"1152921504606846976":"x"},"any":"3","array":["4","5"]}`
	got, err := json.Marshal(in)
	if err != nil || string(got) != want {
		t.Fatalf("%s, %v", got, err)
	}
	var out document
	if err := json.Unmarshal(got, &out); err != nil {
		t.Fatal(err)
	}
	in.Any = "3" // the type is lost in an any, the digits are not
	if !reflect.DeepEqual(in, out) {
		t.Errorf("%+v, want %+v", out, in)
	}

	numbers := strings.ReplaceAll(strings.ReplaceAll(want, `"any":"3",`, ""), `"keys":{"1152921504606846976":"x"},`, "")
	for _, s := range []string{maxText, "8", "9", "1", "2", "4", "5"} {
		numbers = strings.ReplaceAll(numbers, `"`+s+`"`, s)
	}
	out = document{}
	if err := json.Unmarshal([]byte(numbers), &out); err != nil {
		t.Fatal(err)
	}
	in.Any, in.Keys = nil, nil
	if !reflect.DeepEqual(in, out) {
		t.Errorf("from numbers %s: %+v", numbers, out)
	}
}

func TestJSONNullAndEmpty(t *testing.T) {
	got, err := json.Marshal(document{})
	const want = `{"id":"0","ptr":null,"null":null,"list":null,"keys":null,"any":null,"array":["0","0"]}`
	if err != nil || string(got) != want {
		t.Errorf("%s, %v", got, err)
	}
	out := document{ID: 1, Ptr: ptr(2), Null: NullID{3, true}}
	if err := json.Unmarshal([]byte(`{"id":null,"ptr":null,"null":null}`), &out); err != nil {
		t.Fatal(err)
	}
	if out.ID != 1 || out.Ptr != nil || out.Null.Valid {
		t.Errorf("after null: %+v", out)
	}
	omitted, err := json.Marshal(struct {
		A ID     `json:"a,omitempty"`
		B ID     `json:"b,omitzero"`
		C ID     `json:"c,omitempty,omitzero"`
		D NullID `json:"d,omitzero"`
		E *ID    `json:"e,omitempty"`
		F NullID `json:"f,omitzero"`
	}{F: NullID{0, true}})
	if err != nil || string(omitted) != `{"f":"0"}` {
		t.Errorf("omitted: %s, %v", omitted, err)
	}
}

func TestJSONErrors(t *testing.T) {
	for name, v := range map[string]any{
		"ID": ID(-1), "slice": []ID{1, -1}, "NullID": NullID{-1, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := json.Marshal(v); !errors.Is(err, ErrNegative) {
				t.Errorf("%s: %s, %v", name, got, err)
			}
		})
	}
	if got, err := json.Marshal(map[ID]int{-1: 1}); err == nil { // encoding/json does not wrap a key's error
		t.Errorf("key: %s", got)
	}
	var keys map[ID]int
	for _, in := range []string{`{"007":1}`, `{"":1}`, `{"-1":1}`, `{"` + overText + `":1}`} {
		if err := json.Unmarshal([]byte(in), &keys); err == nil {
			t.Errorf("%s: %v", in, keys)
		}
	}
}
