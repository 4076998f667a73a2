package sqltype

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"math"
	"net/url"
	"strings"
	"testing"
	"time"
)

func TestGob(t *testing.T) {
	kinds(t, testGob[ID, NullID], testGob[plainKey, plainNull])
}

func testGob[K idKind, N nullKind, P idPointer[K]](t *testing.T) {
	type row struct {
		ID   K
		Null N
		Ptr  *K
		List []K
	}
	var b bytes.Buffer
	in := row{math.MaxInt64, some[N](7), ptr[K](0), []K{0, 1 << 60}}
	var out row
	if err := gob.NewEncoder(&b).Encode(in); err != nil {
		t.Fatal(err)
	}
	if err := gob.NewDecoder(&b).Decode(&out); err != nil || fmt.Sprint(out.ID, out.Null, *out.Ptr, out.List) != fmt.Sprint(in.ID, in.Null, *in.Ptr, in.List) {
		t.Errorf("%+v, %v", out, err)
	}
	for _, v := range []any{row{ID: -5}, row{Null: some[N](-5)}, row{Ptr: ptr[K](-5)}, row{List: []K{-5}}} {
		if err := gob.NewEncoder(&b).Encode(v); !errors.Is(err, ErrNegative) {
			t.Errorf("%+v: %v", v, err)
		}
	}
	id := K(42)
	for _, text := range []string{"-5", "007", ""} {
		if err := P(&id).GobDecode([]byte(text)); err == nil || id != 42 {
			t.Errorf("%q: %d, %v", text, id, err)
		}
	}
}

func TestXMLPointers(t *testing.T) {
	kinds(t, testXMLPointers[ID, NullID], testXMLPointers[plainKey, plainNull])
}

func testXMLPointers[K idKind, N nullKind](t *testing.T) {
	type row struct {
		XMLName xml.Name `xml:"row"`
		ID      K        `xml:"id,attr"`
		Ptr     *K       `xml:"ptr,attr"`
		Null    N        `xml:"null,attr"`
		NullPtr *N       `xml:"nullptr,attr"`
		Element *K       `xml:"element"`
	}
	for want, v := range map[string]row{
		`<row id="7" null=""></row>`: {ID: 7},
		`<row id="7" ptr="8" null="9" nullptr="10"><element>11</element></row>`: {ID: 7, Ptr: ptr[K](8), Null: some[N](9), NullPtr: ptr(some[N](10)), Element: ptr[K](11)},
		`<row id="0" ptr="0" null="0" nullptr=""></row>`:                        {Ptr: ptr[K](0), Null: some[N](0), NullPtr: new(N)},
	} {
		t.Run(want, func(t *testing.T) {
			for _, v := range []any{v, &v} {
				if b, err := xml.Marshal(v); err != nil || string(b) != want {
					t.Errorf("%T: %s, %v, want %s", v, b, err, want)
				}
			}
		})
	}
	for _, v := range []row{{ID: -5}, {Ptr: ptr[K](-5)}, {NullPtr: ptr(some[N](-5))}} {
		for _, v := range []any{v, &v} {
			if b, err := xml.Marshal(v); !errors.Is(err, ErrNegative) {
				t.Errorf("%+v: %s, %v", v, b, err)
			}
		}
	}
}

func TestEncodeValues(t *testing.T) {
	kinds(t, testEncodeValues[NullID], testEncodeValues[plainNull])
}

func testEncodeValues[N nullKind](t *testing.T) {
	values := url.Values{}
	if err := errors.Join(some[N](7).EncodeValues("a", &values), some[N](8).EncodeValues("a", &values), nullOf[N](0, false).EncodeValues("b", &values)); err != nil || values.Encode() != "a=7&a=8&b=" {
		t.Errorf("%s, %v", values.Encode(), err)
	}
	if err := some[N](-5).EncodeValues("c", &values); !errors.Is(err, ErrNegative) || values.Has("c") {
		t.Errorf("%s, %v", values.Encode(), err)
	}
}

func TestUnmarshalMapstructure(t *testing.T) {
	kinds(t, testUnmarshalMapstructure[ID, NullID], testUnmarshalMapstructure[plainKey, plainNull])
}

func testUnmarshalMapstructure[K idKind, N nullKind, P idPointer[K], Q nullPointer[N]](t *testing.T) {
	type named string
	for _, tt := range []struct {
		v    any
		want ID
		err  error
		show string
	}{
		{7, 7, nil, ""}, {int64(math.MaxInt64), math.MaxInt64, nil, ""}, {uint8(7), 7, nil, ""}, {uint64(7), 7, nil, ""}, {"7", 7, nil, ""}, {named("7"), 7, nil, ""},
		{json.Number("7"), 7, nil, ""}, {K(7), 7, nil, ""}, {ptr[K](7), 7, nil, ""}, {some[N](7), 7, nil, ""}, {ptr(some[N](7)), 7, nil, ""},
		{-5, 0, ErrNegative, "-5"}, {int8(-5), 0, ErrNegative, "-5"}, {K(-5), 0, ErrNegative, "-5"}, {"-5", 0, ErrNegative, `"-5"`}, {json.Number("-5"), 0, ErrNegative, `"-5"`},
		{uint64(math.MaxInt64 + 1), 0, ErrRange, overText}, {"007", 0, ErrSyntax, `"007"`}, {"", 0, ErrSyntax, `""`}, {json.Number("7.5"), 0, ErrSyntax, `"7.5"`},
		{7.0, 0, ErrType, `float64 "7"`}, {true, 0, ErrType, `bool "true"`}, {[]int{7}, 0, ErrType, `"[7]"`}, {map[string]any{"id": 7}, 0, ErrType, "map"},
		{nil, 0, ErrNull, "NullID"}, {(*K)(nil), 0, ErrNull, "NullID"}, {nullOf[N](0, false), 0, ErrNull, "NullID"}, {new(N), 0, ErrNull, "NullID"}, {(*N)(nil), 0, ErrNull, "NullID"},
	} {
		t.Run(tt.show, func(t *testing.T) {
			id, null := K(42), some[N](42)
			err, nullErr := P(&id).UnmarshalMapstructure(tt.v), Q(&null).UnmarshalMapstructure(tt.v)
			want, wantNull := K(tt.want), some[N](tt.want)
			if tt.err != nil {
				want, wantNull = 42, some[N](42)
			}
			if !errors.Is(err, tt.err) || id != want || err != nil && !strings.Contains(err.Error(), tt.show) {
				t.Errorf("%T %v: %d, %v, want %d, %v", tt.v, tt.v, id, err, want, tt.err)
			}
			if tt.err == ErrNull {
				if nullErr != nil || null != nullOf[N](0, false) {
					t.Errorf("%T %v into a null: %v, %v", tt.v, tt.v, null, nullErr)
				}
			} else if !errors.Is(nullErr, tt.err) || null != wantNull {
				t.Errorf("%T %v into a null: %v, %v", tt.v, tt.v, null, nullErr)
			}
		})
	}
}

func TestNullFormat(t *testing.T) {
	kinds(t, testNullFormat[NullID], testNullFormat[plainNull])
}

func testNullFormat[N nullKind](t *testing.T) {
	for _, tt := range []struct{ format, valid, null string }{
		{"%d", "7", "NULL"}, {"%v", "7", "NULL"}, {"%s", "7", "NULL"}, {"%q", `"7"`, `"NULL"`}, {"%x", "7", "NULL"}, {"%+v", "7", "NULL"},
		{"%5d|", "    7|", " NULL|"}, {"%-5d|", "7    |", "NULL |"}, {"%05d", "00007", " NULL"}, {"%.2d", "07", "NULL"}, {"%8q|", `     "7"|`, `  "NULL"|`},
	} {
		t.Run(tt.format, func(t *testing.T) {
			if got := fmt.Sprintf(tt.format, some[N](7)); got != tt.valid {
				t.Errorf("%s: %s, want %s", tt.format, got, tt.valid)
			}
			if got := fmt.Sprintf(tt.format, nullOf[N](0, false)); got != tt.null {
				t.Errorf("%s of NULL: %s, want %s", tt.format, got, tt.null)
			}
		})
	}
	if got := fmt.Sprint([]N{some[N](7), nullOf[N](0, false)}, ptr(some[N](7)), struct{ N N }{some[N](8)}); got != "[7 NULL] 7 {8}" {
		t.Error(got)
	}
}

func TestNullGoSyntax(t *testing.T) {
	for want, v := range map[string]any{
		"sqltype.NullID{ID:7, Valid:true}":               NullID{7, true},
		"sqltype.NullID{ID:0, Valid:false}":              NullID{},
		"sqltype.NullKey[time.Time]{Key:7, Valid:true}":  NullKey[time.Time]{7, true},
		"sqltype.NullKey[time.Time]{Key:0, Valid:false}": NullKey[time.Time]{},
	} {
		if got := fmt.Sprintf("%#v", v); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// An error has no address of a value.
func TestNoAddressInErrors(t *testing.T) {
	for name, v := range map[string]any{"pointer": new(float64), "function": func() {}, "channel": make(chan int)} {
		t.Run(name, func(t *testing.T) {
			for _, err := range []error{
				new(ID).Scan(v), new(ID).UnmarshalMapstructure(v), new(plainKey).Scan(v), new(plainKey).UnmarshalMapstructure(v),
			} {
				if !errors.Is(err, ErrType) || strings.Contains(err.Error(), "0x") {
					t.Error(err)
				}
			}
		})
	}
}
