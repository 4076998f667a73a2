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
	{`9007199254740991`, 1<<53 - 1, nil},
	{`9007199254740992`, 0, ErrRounded}, // 9007199254740993 of a float64
	{`9007199254740993`, 0, ErrRounded},
	{`1996573624012345600`, 0, ErrRounded},
	{maxText, 0, ErrRounded},
	{`"9007199254740993"`, 1<<53 + 1, nil},
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
	kinds(t, testUnmarshalJSON[ID], testUnmarshalJSON[plainKey])
}

func testUnmarshalJSON[K idKind, P idPointer[K]](t *testing.T) {
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
		id, want := K(42), K(tt.want)
		if tt.err != nil {
			want = 42
		}
		checkError(t, P(&id).UnmarshalJSON([]byte(tt.in)), tt.err, tt.in)
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

type document[K idKind, N nullKind] struct {
	ID    K            `json:"id"`
	Ptr   *K           `json:"ptr"`
	Null  N            `json:"null"`
	List  []K          `json:"list"`
	Keys  map[K]string `json:"keys"`
	Any   any          `json:"any"`
	Array [2]K         `json:"array"`
}

func TestJSONDocument(t *testing.T) {
	kinds(t, testJSONDocument[ID, NullID], testJSONDocument[plainKey, plainNull])
}

func testJSONDocument[K idKind, N nullKind](t *testing.T) {
	in := document[K, N]{
		ID: math.MaxInt64, Ptr: ptr[K](8), Null: some[N](9), List: []K{1, 2},
		Keys: map[K]string{1 << 60: "x"}, Any: K(3), Array: [2]K{4, 5},
	}
	const want = `{"id":"9223372036854775807","ptr":"8","null":"9","list":["1","2"],` +
		`"keys":{"1152921504606846976":"x"},"any":"3","array":["4","5"]}`
	got, err := json.Marshal(in)
	if err != nil || string(got) != want {
		t.Fatalf("%s, %v", got, err)
	}
	var out document[K, N]
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
	out = document[K, N]{}
	if err := json.Unmarshal([]byte(numbers), &out); !errors.Is(err, ErrRounded) {
		t.Errorf("numbers that may be rounded: %v", err)
	}
	exact := Exact[document[K, N]]{}
	if err := json.Unmarshal([]byte(numbers), &exact); err != nil {
		t.Fatal(err)
	}
	out = exact.V
	in.Any, in.Keys = nil, nil
	if !reflect.DeepEqual(in, out) {
		t.Errorf("from numbers %s: %+v", numbers, out)
	}
}

func TestJSONNullAndEmpty(t *testing.T) {
	kinds(t, testJSONNullAndEmpty[ID, NullID], testJSONNullAndEmpty[plainKey, plainNull])
}

func testJSONNullAndEmpty[K idKind, N nullKind](t *testing.T) {
	got, err := json.Marshal(document[K, N]{})
	const want = `{"id":"0","ptr":null,"null":null,"list":null,"keys":null,"any":null,"array":["0","0"]}`
	if err != nil || string(got) != want {
		t.Errorf("%s, %v", got, err)
	}
	out := document[K, N]{ID: 1, Ptr: ptr[K](2), Null: some[N](3)}
	if err := json.Unmarshal([]byte(`{"id":null,"ptr":null,"null":null}`), &out); err != nil {
		t.Fatal(err)
	}
	if out.ID != 1 || out.Ptr != nil || !out.Null.IsZero() {
		t.Errorf("after null: %+v", out)
	}
	omitted, err := json.Marshal(struct {
		A K  `json:"a,omitempty"`
		B K  `json:"b,omitzero"`
		C K  `json:"c,omitempty,omitzero"`
		D N  `json:"d,omitzero"`
		E *K `json:"e,omitempty"`
		F N  `json:"f,omitzero"`
	}{F: some[N](0)})
	if err != nil || string(omitted) != `{"f":"0"}` {
		t.Errorf("omitted: %s, %v", omitted, err)
	}
}

func TestJSONErrors(t *testing.T) {
	kinds(t, testJSONErrors[ID, NullID], testJSONErrors[plainKey, plainNull])
}

func testJSONErrors[K idKind, N nullKind](t *testing.T) {
	for name, v := range map[string]any{
		"id": K(-1), "slice": []K{1, -1}, "null": some[N](-1),
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := json.Marshal(v); !errors.Is(err, ErrNegative) {
				t.Errorf("%s: %s, %v", name, got, err)
			}
		})
	}
	if got, err := json.Marshal(map[K]int{-1: 1}); err == nil { // encoding/json does not wrap a key's error
		t.Errorf("key: %s", got)
	}
	var keys map[K]int
	for _, in := range []string{`{"007":1}`, `{"":1}`, `{"-1":1}`, `{"` + overText + `":1}`} {
		if err := json.Unmarshal([]byte(in), &keys); err == nil {
			t.Errorf("%s: %v", in, keys)
		}
	}
}

func TestExact(t *testing.T) {
	t.Parallel()
	before := Exact[[]ID]{V: []ID{7}}
	for _, in := range []string{`[-1996573624012345677]`, `[1, 1.5]`, `["x"]`, `[99999999999999999999]`} {
		if err := json.Unmarshal([]byte(in), &before); err == nil || !reflect.DeepEqual(before.V, []ID{7}) {
			t.Errorf("%s: %v, %v", in, before, err)
		}
	}
	if err := (*Exact[ID])(nil).UnmarshalJSON([]byte("7")); !errors.Is(err, ErrNil) {
		t.Errorf("nil: %v", err)
	}
	for in, want := range map[string]NullID{`null`: {}, `1996573624012345677`: some[NullID](1996573624012345677), `"8"`: some[NullID](8)} {
		null := Exact[NullID]{some[NullID](9)}
		err := json.Unmarshal([]byte(in), &null)
		if out, errWrite := json.Marshal(null); err != nil || errWrite != nil || null.V != want || in != "null" && strings.Trim(string(out), `"`) != strings.Trim(in, `"`) {
			t.Errorf("%s: %v, %s, %v, %v", in, null, out, err, errWrite)
		}
	}
}

func TestQuoteNumbers(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`1996573624012345677`:                   `"1996573624012345677"`,
		`[9007199254740991 , 9007199254740992]`: `[9007199254740991 , "9007199254740992"]`,
		`{"a\"1996573624012345677":-9007199254740992,"b":{"c":[99999999999999999999999]}}`: `{"a\"1996573624012345677":"-9007199254740992","b":{"c":["99999999999999999999999"]}}`,
		`["\\",1996573624012345677,"1996573624012345677\\"]`:                               `["\\","1996573624012345677","1996573624012345677\\"]`,
		`[1e30,19965736240123456.5,1996573624012345677e0,true,null,-0]`:                    `[1e30,19965736240123456.5,1996573624012345677e0,true,null,-0]`,
		`{1996573624012345677:1}`: `{1996573624012345677:1}`, // not JSON
		`"1996573624012345677`:    `"1996573624012345677`,
		``:                        ``,
	} {
		if got := string(QuoteNumbers([]byte(in))); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}
