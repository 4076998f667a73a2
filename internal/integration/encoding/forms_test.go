package encoding

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	burntsushi "github.com/BurntSushi/toml"
	"github.com/fxamacker/cbor/v2"
	"github.com/go-viper/mapstructure/v2"
	goccy "github.com/goccy/go-yaml"
	"github.com/google/go-querystring/query"
	pelletier "github.com/pelletier/go-toml/v2"
	"github.com/vmihailenco/msgpack/v5"
	"go.mongodb.org/mongo-driver/v2/bson"
	"gopkg.in/yaml.v3"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// A row is what every encoder writes and reads. Rows of int64 are what other programs write.
type row[K, N any] struct {
	ID   K  `json:"id" bson:"id" cbor:"id" msgpack:"id" toml:"id" yaml:"id" xml:"id,attr" url:"id" mapstructure:"id"`
	Null N  `json:"null" bson:"null" cbor:"null" msgpack:"null" toml:"null" yaml:"null" xml:"null,attr" url:"null" mapstructure:"null"`
	Ptr  *K `json:"ptr" bson:"ptr" cbor:"ptr" msgpack:"ptr" toml:"ptr" yaml:"ptr" xml:"ptr,attr" url:"ptr" mapstructure:"ptr"`
}

// A form is an encoder of documents, which are bytes, except for mapstructure. open shows the
// fields of a document without sqltype. unmarshal is nil if the encoder only writes.
type form struct {
	name      string
	marshal   func(any) (any, error)
	unmarshal func(doc, v any) error
	open      func(doc any) (map[string]any, error)
}

func newForm(name string, marshal func(any) ([]byte, error), unmarshal func([]byte, any) error, open func([]byte) (map[string]any, error)) form {
	f := form{name: name, marshal: func(v any) (any, error) { return marshal(v) }}
	if unmarshal != nil {
		f.unmarshal = func(doc, v any) error { return unmarshal(doc.([]byte), v) }
	}
	f.open = func(doc any) (m map[string]any, err error) {
		if open != nil {
			return open(doc.([]byte))
		}
		err = unmarshal(doc.([]byte), &m)
		return m, err
	}
	return f
}

func forms() []form {
	return []form{
		newForm("encoding/json", json.Marshal, json.Unmarshal, nil),
		newForm("encoding/xml, attributes", xml.Marshal, xml.Unmarshal, openXML),
		newForm("encoding/gob", gobEncode, gobDecode, openGob),
		newForm("BSON, mongo-driver v2", bson.Marshal, bson.Unmarshal, nil),
		newForm("CBOR, fxamacker/cbor", cbor.Marshal, cbor.Unmarshal, nil),
		newForm("MessagePack, vmihailenco/msgpack", msgpack.Marshal, msgpack.Unmarshal, nil),
		newForm("TOML, BurntSushi/toml", burntsushi.Marshal, burntsushi.Unmarshal, nil),
		newForm("TOML, pelletier/go-toml", pelletier.Marshal, pelletier.Unmarshal, nil),
		newForm("YAML, gopkg.in/yaml.v3", yaml.Marshal, yaml.Unmarshal, nil),
		newForm("YAML, goccy/go-yaml", goccy.Marshal, goccy.Unmarshal, nil),
		newForm("google/go-querystring", queryEncode, nil, openQuery),
		{
			"mapstructure", func(v any) (any, error) { m := map[string]any{}; return m, mapstructure.Decode(v, &m) },
			mapstructure.Decode,
			func(doc any) (map[string]any, error) { return doc.(map[string]any), nil },
		},
	}
}

func openXML(b []byte) (map[string]any, error) {
	var element struct {
		Attrs []xml.Attr `xml:",any,attr"`
	}
	err := xml.Unmarshal(b, &element)
	m := map[string]any{}
	for _, a := range element.Attrs {
		m[a.Name.Local] = a.Value
	}
	return m, err
}

func gobEncode(v any) ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(v)
	return b.Bytes(), err
}

func gobDecode(b []byte, v any) error { return gob.NewDecoder(bytes.NewReader(b)).Decode(v) }

func openGob(b []byte) (map[string]any, error) {
	var r row[int64, *struct{ ID, Key int64 }]
	m := map[string]any{}
	err := gobDecode(b, &r)
	if m["id"] = r.ID; r.Null != nil {
		m["null"] = r.Null
	}
	if r.Ptr != nil {
		m["ptr"] = *r.Ptr
	}
	return m, err
}

func queryEncode(v any) ([]byte, error) {
	values, err := query.Values(v)
	return []byte(values.Encode()), err
}

func openQuery(b []byte) (map[string]any, error) {
	values, err := url.ParseQuery(string(b))
	m := map[string]any{}
	for name := range values {
		if field, _, nested := strings.Cut(name, "["); nested {
			m[field] = values // two parameters
		} else {
			m[name] = values.Get(name)
		}
	}
	return m, err
}

// testdata/encoders.md, which docs/keys.md links to, has the results of this test. To update it,
// copy the lines of the failure.
func TestDocumentedEncoders(t *testing.T) {
	document, err := os.ReadFile("testdata/encoders.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range forms() {
		t.Run(f.name, func(t *testing.T) {
			ids := cells(t, f, ID(1996573624012345677), "1996573624012345677", func(id int64) NullID { return NullID{ID: ID(id), Valid: true} })
			keys := cells(t, f, Key(1996573624012345677), "ord_1qda147xjq4ad", func(id int64) NullKey { return NullKey{Key: Key(id), Valid: true} })
			if !slices.Equal(ids[1:], keys[1:]) {
				t.Errorf("an ID: %q, a Key: %q", ids, keys)
			}
			if line := "| " + strings.Join(slices.Concat([]string{f.name}, ids[:1], keys[:1], ids[1:]), " | ") + " |"; !strings.Contains(string(document), "\n"+line) {
				t.Errorf("testdata/encoders.md has no line that begins so:\n%s", line)
			}
		})
	}
}

// cells returns what an id, a nullable id and NULL become; what a null makes of an id and of a
// nullable one; and whether -5 is written and read.
func cells[K ~int64, N comparable](t *testing.T, f form, id K, text string, some func(int64) N) []string {
	t.Helper()
	write := func(v any) (doc any, m map[string]any) {
		doc, err := f.marshal(v)
		if err != nil {
			t.Fatalf("%+v: %v", v, err)
		}
		if m, err = f.open(doc); err != nil && reflect.TypeOf(v) == reflect.TypeFor[row[K, N]]() {
			t.Fatalf("%+v: %q, %v", v, doc, err)
		}
		return doc, m
	}
	var list []string
	for _, in := range []row[K, N]{{id, some(8), ptr(K(9))}, {ID: id}} {
		doc, m := write(in)
		kind, value := shape(m, "id")
		if want := map[string]string{"text": text, "integer": fmt.Sprintf("%d", id)}[kind]; value != want {
			t.Errorf("the id is written as %s %q, want %q", kind, value, want)
		}
		null, _ := shape(m, "null")
		if list == nil {
			list = append(list, kind)
			if ptr, value := shape(m, "ptr"); ptr != kind || value == "" {
				t.Errorf("a pointer is written as %s %q, an id as %s", ptr, value, kind)
			}
		}
		list = append(list, null)
		var back row[K, N]
		if f.unmarshal == nil {
			continue
		}
		if err := f.unmarshal(doc, &back); err != nil || !reflect.DeepEqual(back, in) { // nothing is lost
			t.Errorf("%+v is read back as %+v, %v", in, back, err)
		}
	}
	doc, m := write(row[*int64, *int64]{})
	if kind, _ := shape(m, "id"); f.unmarshal == nil || kind != "null" {
		list = append(list, "–")
	} else {
		back, null := row[K, N]{ID: 42, Null: some(42)}, *new(N)
		if err := f.unmarshal(doc, &back); err != nil {
			t.Error(err)
		}
		list = append(list, map[K]string{42: "unchanged", 0: "0"}[back.ID]+", "+map[N]string{some(42): "unchanged", null: "NULL"}[back.Null])
	}
	five := int64(-5)
	var written, read [2]bool
	for i, foreign := range []row[int64, *int64]{{ID: five}, {Null: &five}} {
		doc, err := f.marshal([]row[K, N]{{ID: -5}, {Null: some(-5)}}[i])
		if written[i] = err == nil; err != nil {
			if !strings.Contains(err.Error(), sqltype.ErrNegative.Error()) {
				t.Errorf("-5: %v", err)
			}
			doc, _ = write(foreign)
		}
		read[i] = f.unmarshal != nil && f.unmarshal(doc, &row[K, N]{}) == nil
	}
	list = append(list, verdict[written], verdict[read])
	if f.unmarshal == nil {
		list[len(list)-1] = "–"
	}
	return list
}

// verdict says whether -5 was accepted as an id, and as a nullable one.
var verdict = map[[2]bool]string{{}: "no", {true, false}: "not in a NullID", {true, true}: "yes"}

// shape returns what a field became, and its value in text.
func shape(m map[string]any, name string) (kind, text string) {
	v, there := m[name]
	switch value := reflect.Indirect(reflect.ValueOf(v)); {
	case !there:
		return "absent", ""
	case !value.IsValid():
		return "null", ""
	case value.CanInt(), value.CanUint():
		return "integer", fmt.Sprintf("%d", value.Interface())
	case value.Kind() == reflect.String, value.Type() == reflect.TypeFor[[]byte]():
		text := fmt.Sprintf("%s", value.Interface())
		return map[bool]string{true: "empty text", false: "text"}[text == ""], text
	}
	return "two fields", ""
}
