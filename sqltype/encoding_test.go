package sqltype

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"text/template"
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

func TestCSV(t *testing.T) {
	var b strings.Builder
	w := csv.NewWriter(&b)
	if err := w.Write([]string{ID(1 << 60).String(), ID(7).String()}); err != nil {
		t.Fatal(err)
	}
	w.Flush()
	record, err := csv.NewReader(strings.NewReader(b.String())).Read()
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []ID{1 << 60, 7} {
		if got, err := Parse(record[i]); err != nil || got != want {
			t.Errorf("field %d: %d, %v", i, got, err)
		}
	}
}

func TestSlog(t *testing.T) {
	kinds(t, testSlog[ID, NullID], testSlog[plainKey, plainNull])
}

func testSlog[K idKind, N nullKind](t *testing.T) {
	var b bytes.Buffer
	drop := func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == "id" || a.Key == "null" {
			return a
		}
		return slog.Attr{}
	}
	options := &slog.HandlerOptions{ReplaceAttr: drop}
	for name, h := range map[string]slog.Handler{
		"id=1152921504606846976 null=7\n":                slog.NewTextHandler(&b, options),
		`{"id":"1152921504606846976","null":"7"}` + "\n": slog.NewJSONHandler(&b, options),
	} {
		b.Reset()
		slog.New(h).Info("", "id", K(ID(1<<60)), "null", some[N](7))
		if b.String() != name {
			t.Errorf("%q, want %q", b.String(), name)
		}
	}
}

func TestFlag(t *testing.T) {
	kinds(t, testFlag[ID], testFlag[plainKey])
}

func testFlag[K idKind, P idPointer[K]](t *testing.T) {
	for _, tt := range []struct {
		args []string
		want K
		ok   bool
	}{
		{nil, 5, true},
		{[]string{"-id", "7"}, 7, true},
		{[]string{"-id", "007"}, 5, false},
	} {
		t.Run(fmt.Sprint(tt.args), func(t *testing.T) {
			set := flag.NewFlagSet("", flag.ContinueOnError)
			set.SetOutput(io.Discard)
			var id K
			set.TextVar(P(&id), "id", K(5), "a key")
			if err := set.Parse(tt.args); (err == nil) != tt.ok || id != tt.want {
				t.Errorf("%v: %d, %v", tt.args, id, err)
			}
		})
	}
}

func TestTemplate(t *testing.T) {
	kinds(t, testTemplate[ID], testTemplate[plainKey])
}

func testTemplate[K idKind](t *testing.T) {
	var b strings.Builder
	err := template.Must(template.New("").Parse(`/orders/{{.}}?next={{printf "%x" .}}`)).Execute(&b, K(255))
	if err != nil || b.String() != "/orders/255?next=ff" {
		t.Errorf("%s, %v", b.String(), err)
	}
}
