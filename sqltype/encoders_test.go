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
)

var (
	_ gob.GobEncoder = ID(0)
	_ gob.GobDecoder = (*ID)(nil)
)

func TestGob(t *testing.T) {
	type row struct {
		ID   ID
		Null NullID
		Ptr  *ID
		List []ID
	}
	var b bytes.Buffer
	in := row{math.MaxInt64, NullID{7, true}, ptr(0), []ID{0, 1 << 60}}
	var out row
	if err := gob.NewEncoder(&b).Encode(in); err != nil {
		t.Fatal(err)
	}
	if err := gob.NewDecoder(&b).Decode(&out); err != nil || fmt.Sprint(out.ID, out.Null, *out.Ptr, out.List) != fmt.Sprint(in.ID, in.Null, *in.Ptr, in.List) {
		t.Errorf("%+v, %v", out, err)
	}
	for _, v := range []any{row{ID: -5}, row{Null: NullID{-5, true}}, row{Ptr: ptr(-5)}, row{List: []ID{-5}}} {
		if err := gob.NewEncoder(&b).Encode(v); !errors.Is(err, ErrNegative) {
			t.Errorf("%+v: %v", v, err)
		}
	}
	id := ID(42)
	for _, text := range []string{"-5", "007", ""} {
		if err := id.GobDecode([]byte(text)); err == nil || id != 42 {
			t.Errorf("%q: %d, %v", text, id, err)
		}
	}
}

func TestXMLPointers(t *testing.T) {
	type row struct {
		XMLName xml.Name `xml:"row"`
		ID      ID       `xml:"id,attr"`
		Ptr     *ID      `xml:"ptr,attr"`
		Null    NullID   `xml:"null,attr"`
		NullPtr *NullID  `xml:"nullptr,attr"`
		Element *ID      `xml:"element"`
	}
	for want, v := range map[string]row{
		`<row id="7" null=""></row>`: {ID: 7},
		`<row id="7" ptr="8" null="9" nullptr="10"><element>11</element></row>`: {ID: 7, Ptr: ptr(8), Null: NullID{9, true}, NullPtr: &NullID{10, true}, Element: ptr(11)},
		`<row id="0" ptr="0" null="0" nullptr=""></row>`:                        {Ptr: ptr(0), Null: NullID{0, true}, NullPtr: &NullID{}},
	} {
		t.Run(want, func(t *testing.T) {
			for _, v := range []any{v, &v} {
				if b, err := xml.Marshal(v); err != nil || string(b) != want {
					t.Errorf("%T: %s, %v, want %s", v, b, err, want)
				}
			}
		})
	}
	for _, v := range []row{{ID: -5}, {Ptr: ptr(-5)}, {NullPtr: &NullID{-5, true}}} {
		for _, v := range []any{v, &v} {
			if b, err := xml.Marshal(v); !errors.Is(err, ErrNegative) {
				t.Errorf("%+v: %s, %v", v, b, err)
			}
		}
	}
}

func TestEncodeValues(t *testing.T) {
	values := url.Values{}
	if err := errors.Join(NullID{7, true}.EncodeValues("a", &values), NullID{8, true}.EncodeValues("a", &values), NullID{}.EncodeValues("b", &values)); err != nil || values.Encode() != "a=7&a=8&b=" {
		t.Errorf("%s, %v", values.Encode(), err)
	}
	if err := (NullID{-5, true}).EncodeValues("c", &values); !errors.Is(err, ErrNegative) || values.Has("c") {
		t.Errorf("%s, %v", values.Encode(), err)
	}
}

func TestUnmarshalMapstructure(t *testing.T) {
	type named string
	for _, tt := range []struct {
		v    any
		want ID
		err  error
		show string
	}{
		{7, 7, nil, ""}, {int64(math.MaxInt64), math.MaxInt64, nil, ""}, {uint8(7), 7, nil, ""}, {uint64(7), 7, nil, ""}, {"7", 7, nil, ""}, {named("7"), 7, nil, ""},
		{json.Number("7"), 7, nil, ""}, {ID(7), 7, nil, ""}, {ptr(7), 7, nil, ""}, {NullID{7, true}, 7, nil, ""}, {&NullID{7, true}, 7, nil, ""},
		{-5, 0, ErrNegative, "-5"}, {int8(-5), 0, ErrNegative, "-5"}, {ID(-5), 0, ErrNegative, "-5"}, {"-5", 0, ErrNegative, `"-5"`}, {json.Number("-5"), 0, ErrNegative, `"-5"`},
		{uint64(math.MaxInt64 + 1), 0, ErrRange, overText}, {"007", 0, ErrSyntax, `"007"`}, {"", 0, ErrSyntax, `""`}, {json.Number("7.5"), 0, ErrSyntax, `"7.5"`},
		{7.0, 0, ErrType, `float64 "7"`}, {true, 0, ErrType, `bool "true"`}, {[]int{7}, 0, ErrType, `"[7]"`}, {map[string]any{"id": 7}, 0, ErrType, "map"},
		{nil, 0, ErrNull, "NullID"}, {(*ID)(nil), 0, ErrNull, "NullID"}, {NullID{}, 0, ErrNull, "NullID"}, {&NullID{}, 0, ErrNull, "NullID"}, {(*NullID)(nil), 0, ErrNull, "NullID"},
	} {
		t.Run(tt.show, func(t *testing.T) {
			id, null := ID(42), NullID{42, true}
			err, nullErr := id.UnmarshalMapstructure(tt.v), null.UnmarshalMapstructure(tt.v)
			want, wantNull := tt.want, NullID{tt.want, true}
			if tt.err != nil {
				want, wantNull = 42, NullID{42, true}
			}
			if !errors.Is(err, tt.err) || id != want || err != nil && !strings.Contains(err.Error(), tt.show) {
				t.Errorf("%T %v: %d, %v, want %d, %v", tt.v, tt.v, id, err, want, tt.err)
			}
			if tt.err == ErrNull {
				if nullErr != nil || null.Valid {
					t.Errorf("%T %v into a NullID: %v, %v", tt.v, tt.v, null, nullErr)
				}
			} else if !errors.Is(nullErr, tt.err) || null != wantNull {
				t.Errorf("%T %v into a NullID: %v, %v", tt.v, tt.v, null, nullErr)
			}
		})
	}
	if err := errors.Join((*ID)(nil).UnmarshalMapstructure(7), (*NullID)(nil).UnmarshalMapstructure(7)); !errors.Is(err, ErrNil) {
		t.Error(err)
	}
}

func TestNullIDFormat(t *testing.T) {
	for _, tt := range []struct{ format, valid, null string }{
		{"%d", "7", "NULL"}, {"%v", "7", "NULL"}, {"%s", "7", "NULL"}, {"%q", `"7"`, `"NULL"`}, {"%x", "7", "NULL"}, {"%+v", "7", "NULL"},
		{"%5d|", "    7|", " NULL|"}, {"%-5d|", "7    |", "NULL |"}, {"%05d", "00007", " NULL"}, {"%.2d", "07", "NULL"}, {"%8q|", `     "7"|`, `  "NULL"|`},
		{"%#v", "sqltype.NullID{ID:7, Valid:true}", "sqltype.NullID{ID:0, Valid:false}"},
	} {
		t.Run(tt.format, func(t *testing.T) {
			if got := fmt.Sprintf(tt.format, NullID{7, true}); got != tt.valid {
				t.Errorf("%s: %s, want %s", tt.format, got, tt.valid)
			}
			if got := fmt.Sprintf(tt.format, NullID{}); got != tt.null {
				t.Errorf("%s of NULL: %s, want %s", tt.format, got, tt.null)
			}
		})
	}
	if got := fmt.Sprint([]NullID{{7, true}, {}}, &NullID{7, true}, struct{ N NullID }{NullID{8, true}}); got != "[7 NULL] 7 {8}" {
		t.Error(got)
	}
}

// An error has no address of a value.
func TestNoAddressInErrors(t *testing.T) {
	for name, v := range map[string]any{"pointer": new(float64), "function": func() {}, "channel": make(chan int)} {
		t.Run(name, func(t *testing.T) {
			for _, err := range []error{new(ID).Scan(v), new(ID).UnmarshalMapstructure(v)} {
				if !errors.Is(err, ErrType) || strings.Contains(err.Error(), "0x") {
					t.Error(err)
				}
			}
		})
	}
}
