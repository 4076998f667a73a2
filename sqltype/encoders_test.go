package sqltype

import (
	"encoding/xml"
	"errors"
	"fmt"
	"strings"
	"testing"
)

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

// An error has no address of a value.
func TestNoAddressInErrors(t *testing.T) {
	for name, v := range map[string]any{"pointer": new(float64), "function": func() {}, "channel": make(chan int)} {
		t.Run(name, func(t *testing.T) {
			for _, err := range []error{new(ID).Scan(v), new(plainKey).Scan(v)} {
				if !errors.Is(err, ErrType) || strings.Contains(err.Error(), "0x") {
					t.Error(err)
				}
			}
		})
	}
}
