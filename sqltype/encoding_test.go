package sqltype

import (
	"encoding/xml"
	"reflect"
	"strings"
	"testing"
)

func TestXML(t *testing.T) {
	kinds(t, testXML[ID, NullID], testXML[plainKey, plainNull])
}

func testXML[K idKind, N nullKind](t *testing.T) {
	type order struct {
		XMLName xml.Name `xml:"order"`
		ID      K        `xml:"id,attr"`
		Parent  N        `xml:"parent"`
		Lines   []K      `xml:"line"`
	}
	in := order{XMLName: xml.Name{Local: "order"}, ID: 1 << 60, Parent: some[N](3), Lines: []K{4, 5}}
	const want = `<order id="1152921504606846976"><parent>3</parent><line>4</line><line>5</line></order>`
	got, err := xml.Marshal(in)
	if err != nil || string(got) != want {
		t.Fatalf("%s, %v", got, err)
	}
	var out order
	if err := xml.Unmarshal(got, &out); err != nil || !reflect.DeepEqual(in, out) {
		t.Errorf("%+v, %v", out, err)
	}
	if err := xml.Unmarshal([]byte(`<order id="-1"/>`), &out); err == nil {
		t.Error("a negative attribute was read")
	}
	if got, err := xml.Marshal(order{}); err != nil || !strings.Contains(string(got), "<parent></parent>") {
		t.Errorf("NULL: %s, %v", got, err)
	}
	if err := xml.Unmarshal([]byte(`<order id="1"><parent></parent></order>`), &out); err != nil || !out.Parent.IsZero() {
		t.Errorf("NULL: %+v, %v", out, err)
	}
}
