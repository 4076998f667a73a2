package encoding

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"net/url"
	"os"
	"reflect"
	"strings"
	"testing"

	burntsushi "github.com/BurntSushi/toml"
	"github.com/fxamacker/cbor/v2"
	"github.com/go-viper/mapstructure/v2"
	goccy "github.com/goccy/go-yaml"
	"github.com/google/go-querystring/query"
	"github.com/gorilla/schema"
	pelletier "github.com/pelletier/go-toml/v2"
	"github.com/vmihailenco/msgpack/v5"
	"go.mongodb.org/mongo-driver/v2/bson"
	"gopkg.in/yaml.v3"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// An anyRow is the row that every encoder writes.
type anyRow struct {
	ID   ID     `json:"id" bson:"id" cbor:"id" msgpack:"id" toml:"id" yaml:"id" xml:"id,attr" url:"id" schema:"id" mapstructure:"id"`
	Null NullID `json:"null" bson:"null" cbor:"null" msgpack:"null" toml:"null" yaml:"null" xml:"null,attr" url:"null" schema:"null" mapstructure:"null"`
	Ptr  *ID    `json:"ptr" bson:"ptr" cbor:"ptr" msgpack:"ptr" toml:"ptr" yaml:"ptr" xml:"ptr,attr" url:"ptr" schema:"ptr" mapstructure:"ptr"`
}

// A form is an encoder. open shows what was written without sqltype, by field, and
// write makes a document of such values; they are nil where there is no such thing.
type form struct {
	name      string
	marshal   func(any) ([]byte, error)
	unmarshal func([]byte, any) error
	open      func([]byte) (map[string]any, error)
	write     func(map[string]any) ([]byte, error)
}

// byMap opens and writes by the encoder's own maps.
func byMap(name string, marshal func(any) ([]byte, error), unmarshal func([]byte, any) error) form {
	return form{
		name, marshal, unmarshal,
		func(b []byte) (m map[string]any, err error) { err = unmarshal(b, &m); return m, err },
		func(m map[string]any) ([]byte, error) { return marshal(m) },
	}
}

func gobEncode(v any) ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(v)
	return b.Bytes(), err
}

func gobDecode(b []byte, v any) error { return gob.NewDecoder(bytes.NewReader(b)).Decode(v) }

// gobText is an ID as gob writes it.
type gobText string

func (g *gobText) GobDecode(b []byte) error { *g = gobText(b); return nil }

func gobOpen(b []byte) (map[string]any, error) {
	var row struct {
		ID   *gobText
		Null struct {
			ID    *gobText
			Valid bool
		}
		Ptr *gobText
	}
	err := gobDecode(b, &row)
	m := map[string]any{}
	for name, text := range map[string]*gobText{"id": row.ID, "null": row.Null.ID, "ptr": row.Ptr} {
		if text != nil {
			m[name] = string(*text)
		}
	}
	return m, err
}

func xmlOpen(b []byte) (map[string]any, error) {
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

func xmlWrite(m map[string]any) ([]byte, error) {
	var b strings.Builder
	b.WriteString("<anyRow")
	for name, v := range m {
		if v == nil {
			return nil, errors.ErrUnsupported
		}
		fmt.Fprintf(&b, ` %s="%v"`, name, v)
	}
	return []byte(b.String() + "/>"), nil
}

func forms() []form {
	decoder := schema.NewDecoder()
	return []form{
		byMap("encoding/json", json.Marshal, json.Unmarshal),
		{"encoding/xml, attributes", xml.Marshal, xml.Unmarshal, xmlOpen, xmlWrite},
		{"encoding/gob", gobEncode, gobDecode, gobOpen, nil},
		byMap("BSON, mongo-driver v2", bson.Marshal, bson.Unmarshal),
		byMap("CBOR, fxamacker/cbor", cbor.Marshal, cbor.Unmarshal),
		byMap("MessagePack, vmihailenco/msgpack", msgpack.Marshal, msgpack.Unmarshal),
		byMap("TOML, BurntSushi/toml", burntsushi.Marshal, burntsushi.Unmarshal),
		byMap("TOML, pelletier/go-toml", pelletier.Marshal, pelletier.Unmarshal),
		byMap("YAML, gopkg.in/yaml.v3", yaml.Marshal, yaml.Unmarshal),
		byMap("YAML, goccy/go-yaml", goccy.Marshal, goccy.Unmarshal),
		{
			"google/go-querystring",
			func(v any) ([]byte, error) { values, err := query.Values(v); return []byte(values.Encode()), err },
			func(b []byte, v any) error { // read by gorilla/schema, as go-querystring reads nothing
				values, err := url.ParseQuery(string(b))
				if err == nil {
					err = decoder.Decode(v, values)
				}
				return err
			},
			func(b []byte) (map[string]any, error) {
				values, err := url.ParseQuery(string(b))
				m := map[string]any{}
				for name := range values {
					m[name] = values.Get(name)
				}
				return m, err
			}, nil,
		},
		{
			"mapstructure", nil, func(b []byte, v any) error {
				var m map[string]any
				d := json.NewDecoder(bytes.NewReader(b))
				d.UseNumber()
				if err := d.Decode(&m); err != nil {
					return err
				}
				return mapstructure.Decode(m, v)
			}, nil, func(m map[string]any) ([]byte, error) { return json.Marshal(m) },
		},
	}
}

// The documents have the results of this test. To update the table, copy the lines of the
// failure.
func TestDocumentedEncoders(t *testing.T) {
	text, err := os.ReadFile("../../../docs/encoders.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range forms() {
		t.Run(f.name, func(t *testing.T) {
			cells := []string{f.name}
			if f.marshal != nil {
				cells = append(cells, written(t, f)...)
			} else {
				cells = append(cells, "–", "–", "–", "–")
			}
			if f.write != nil {
				cells = append(cells, read(t, f)...)
			} else {
				cells = append(cells, "–", "–")
			}
			if line := "| " + strings.Join(cells, " | ") + " |"; !strings.Contains(string(text), "\n"+line) {
				t.Errorf("docs/encoders.md has no line that begins so:\n%s", line)
			}
		})
	}
}

// written returns the forms of an ID, of NULL and of a nil *ID, and whether -5 is refused.
func written(t *testing.T, f form) (cells []string) {
	t.Helper()
	full := anyRow{1996573624012345677, NullID{ID: 8, Valid: true}, ptr(ID(9))}
	b, err := f.marshal(full)
	if err != nil {
		t.Fatal(err)
	}
	var back anyRow
	if err := f.unmarshal(b, &back); err != nil || !reflect.DeepEqual(back, full) {
		t.Errorf("read back: %+v, %v", back, err)
	}
	m, err := f.open(b)
	if err != nil || fmt.Sprintf("%v %v %v", m["id"], m["null"], m["ptr"]) != "1996573624012345677 8 9" {
		t.Errorf("opened: %v, %v", m, err)
	}
	cells = append(cells, shape(m, "id"))
	if shape(m, "id") != shape(m, "null") || shape(m, "id") != shape(m, "ptr") {
		t.Errorf("an ID, a NullID and a pointer are not written alike: %v", m)
	}
	if b, err = f.marshal(anyRow{ID: 7}); err != nil {
		t.Fatal(err)
	}
	if m, err = f.open(b); err != nil {
		t.Fatal(err)
	}
	cells = append(cells, shape(m, "null"), shape(m, "ptr"))
	back = anyRow{ID: 42, Null: NullID{ID: 42, Valid: true}} // what is absent leaves it
	if err := f.unmarshal(b, &back); shape(m, "ptr") != "empty text" && (err != nil || back.ID != 7 || back.Ptr != nil) || back.Null.Valid != (shape(m, "null") == "absent") {
		t.Errorf("read back: %+v, %v", back, err)
	}
	refused := 0
	for _, bad := range []anyRow{{ID: -5}, {Ptr: ptr(ID(-5))}, {Null: NullID{ID: -5, Valid: true}}} {
		b, err := f.marshal(bad)
		if err == nil {
			continue
		}
		if refused++; !strings.Contains(err.Error(), sqltype.ErrNegative.Error()) {
			t.Errorf("%+v: %q, %v", bad, b, err)
		}
	}
	return append(cells, map[int]string{3: "refused", 1: "refused in a NullID"}[refused])
}

func shape(m map[string]any, name string) string {
	switch v, ok := m[name]; {
	case !ok:
		return "absent"
	case v == nil:
		return "null"
	case v == "":
		return "empty text"
	case reflect.TypeOf(v).Kind() == reflect.String:
		return "text"
	case reflect.ValueOf(v).CanInt() || reflect.ValueOf(v).CanUint():
		return "integer"
	default:
		return fmt.Sprintf("%T", v)
	}
}

// read returns whether an integer of -5 is refused, and what null does to an ID and to a
// NullID with the value 42.
func read(t *testing.T, f form) (cells []string) {
	t.Helper()
	for _, in := range []map[string]any{{"id": 7, "null": 8, "ptr": 9}, {"id": "7", "null": "8", "ptr": "9"}} {
		b, err := f.write(in)
		if err != nil {
			t.Fatal(err)
		}
		var row anyRow
		if err := f.unmarshal(b, &row); err != nil && !strings.Contains(err.Error(), "sqltype: ") {
			t.Errorf("%v: %v", in, err)
		} else if _, number := in["id"].(int); (err == nil || number) && !reflect.DeepEqual(row, anyRow{7, NullID{ID: 8, Valid: true}, ptr(ID(9))}) {
			t.Errorf("%v: %+v, %v", in, row, err)
		}
	}
	into := func(in map[string]any) (row anyRow, err error) {
		row = anyRow{ID: 42, Null: NullID{ID: 42, Valid: true}}
		b, err := f.write(in)
		if err != nil {
			return row, errors.ErrUnsupported
		}
		return row, f.unmarshal(b, &row)
	}
	refused := 0
	for _, name := range []string{"id", "null", "ptr"} {
		row, err := into(map[string]any{name: -5})
		if err != nil {
			refused++
		}
		if err != nil && (row.ID != 42 || row.Null != NullID{ID: 42, Valid: true}) {
			t.Errorf("%s: -5 left %+v, %v", name, row, err)
		}
	}
	cells = append(cells, map[int]string{3: "refused", 1: "refused by a NullID"}[refused])
	row, err := into(map[string]any{"id": nil})
	other, otherErr := into(map[string]any{"null": nil})
	switch {
	case errors.Is(err, errors.ErrUnsupported), f.name[:4] == "TOML":
		return append(cells, "–")
	case otherErr != nil:
		t.Errorf("null: %v", otherErr)
	}
	id := map[ID]string{42: "unchanged", 0: "0"}[row.ID]
	if errors.Is(err, sqltype.ErrNull) || err != nil && strings.Contains(err.Error(), sqltype.ErrNull.Error()) {
		id = "error"
	} else if err != nil {
		t.Errorf("null: %v", err)
	}
	return append(cells, id+", "+map[bool]string{true: "unchanged", false: "NULL"}[other.Null.Valid])
}

// A keyRow is an anyRow of keys.
type keyRow struct {
	ID   Key     `json:"id" bson:"id" cbor:"id" msgpack:"id" toml:"id" yaml:"id" xml:"id,attr" url:"id" schema:"id" mapstructure:"id"`
	Null NullKey `json:"null" bson:"null" cbor:"null" msgpack:"null" toml:"null" yaml:"null" xml:"null,attr" url:"null" schema:"null" mapstructure:"null"`
	Ptr  *Key    `json:"ptr" bson:"ptr" cbor:"ptr" msgpack:"ptr" toml:"ptr" yaml:"ptr" xml:"ptr,attr" url:"ptr" schema:"ptr" mapstructure:"ptr"`
}

// What the table says of an ID holds for a Key, whose text has its Form.
func TestEncodersKeys(t *testing.T) {
	full := keyRow{1996573624012345677, NullKey{Key: 8, Valid: true}, ptr(Key(9))}
	texts := map[string]any{"id": "ord_1qda147xjq4ad", "null": "ord_0000000000008", "ptr": "ord_0000000000009"}
	for _, f := range forms() {
		t.Run(f.name, func(t *testing.T) {
			if f.marshal != nil {
				keysWritten(t, f, full, texts)
			}
			if f.write == nil {
				return
			}
			b, err := f.write(texts)
			var row keyRow
			if err != nil || f.unmarshal(b, &row) == nil && !reflect.DeepEqual(row, full) {
				t.Errorf("read from texts: %+v, %v", row, err)
			}
			for _, name := range []string{"id", "null", "ptr"} {
				b, err := f.write(map[string]any{name: "cus_0000000000007"})
				row := keyRow{ID: 42, Null: NullKey{Key: 42, Valid: true}}
				if bad := f.unmarshal(b, &row); err != nil || bad == nil || row.ID != 42 || row.Null.Key != 42 {
					t.Errorf("%s of another type: %+v, %v, %v", name, row, err, bad)
				}
				for _, value := range []any{-5, nil} {
					b, err := f.write(map[string]any{name: value})
					if err != nil {
						continue // not in this encoding
					}
					keys, ids := keyRow{ID: 42, Null: NullKey{Key: 42, Valid: true}}, anyRow{ID: 42, Null: NullID{ID: 42, Valid: true}}
					keyErr, idErr := f.unmarshal(b, &keys), f.unmarshal(b, &ids)
					if like := (anyRow{ID(keys.ID), NullID{ID: ID(keys.Null.Key), Valid: keys.Null.Valid}, (*ID)(keys.Ptr)}); (keyErr == nil) != (idErr == nil) || !reflect.DeepEqual(like, ids) {
						t.Errorf("%s: %v into a key: %+v, %v; into an id: %+v, %v", name, value, like, keyErr, ids, idErr)
					}
				}
			}
		})
	}
}

// keysWritten compares a keyRow with an anyRow.
func keysWritten(t *testing.T, f form, full keyRow, texts map[string]any) {
	t.Helper()
	plain := anyRow{ID(full.ID), NullID{ID: ID(full.Null.Key), Valid: true}, (*ID)(full.Ptr)}
	for _, row := range []struct {
		keys keyRow
		ids  anyRow
	}{{full, plain}, {keyRow{ID: 7}, anyRow{ID: 7}}} {
		b, err := f.marshal(row.keys)
		if err != nil {
			t.Fatal(err)
		}
		var back keyRow
		if err := f.unmarshal(b, &back); row.keys == full && (err != nil || !reflect.DeepEqual(back, full)) {
			t.Errorf("read back: %+v, %v", back, err)
		}
		if f.name == "encoding/gob" { // which has the names of fields in it
			continue
		}
		m, err := f.open(b)
		if err != nil {
			t.Fatal(err)
		}
		b, err = f.marshal(row.ids)
		if err != nil {
			t.Fatal(err)
		}
		ids, err := f.open(b)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"id", "null", "ptr"} {
			switch {
			case shape(m, name) != shape(ids, name):
				t.Errorf("%s of a Key is %s, and of an ID %s", name, shape(m, name), shape(ids, name))
			case row.keys == full && shape(m, name) == "text" && m[name] != texts[name]:
				t.Errorf("%s is %v, want %v", name, m[name], texts[name])
			case shape(m, name) == "integer" && fmt.Sprint(m[name]) != fmt.Sprint(ids[name]):
				t.Errorf("%s is %v, want %v", name, m[name], ids[name])
			}
		}
	}
	for _, bad := range []struct {
		keys keyRow
		ids  anyRow
	}{
		{keyRow{ID: -5}, anyRow{ID: -5}}, {keyRow{Ptr: ptr(Key(-5))}, anyRow{Ptr: ptr(ID(-5))}},
		{keyRow{Null: NullKey{Key: -5, Valid: true}}, anyRow{Null: NullID{ID: -5, Valid: true}}},
	} {
		_, err := f.marshal(bad.keys)
		if _, idErr := f.marshal(bad.ids); (err == nil) != (idErr == nil) || err != nil && !strings.Contains(err.Error(), sqltype.ErrNegative.Error()) {
			t.Errorf("%+v: %v, and of an ID %v", bad.keys, err, idErr)
		}
	}
}

// The last column of the table.
func TestEncodersAdvice(t *testing.T) {
	var row anyRow
	b, err := bson.Marshal(map[string]any{"id": 7.0})
	if err != nil {
		t.Fatal(err)
	}
	if err := bson.Unmarshal(b, &row); err == nil || row.ID != 0 {
		t.Errorf("BSON, a double: %+v, %v", row, err)
	}
	values, err := query.Values(struct {
		Null NullID `url:"null,omitempty"`
		Set  NullID `url:"set,omitempty"`
	}{Set: NullID{Valid: true}})
	if err != nil || values.Encode() != "set=0" {
		t.Errorf("go-querystring: %s, %v", values.Encode(), err)
	}
	if err := mapstructure.Decode(map[string]any{"id": 7.0}, &row); err == nil || row.ID != 0 {
		t.Errorf("mapstructure, a float: %+v, %v", row, err)
	}
	older, err := mapstructure.NewDecoder(&mapstructure.DecoderConfig{
		DisableUnmarshaler: true, DecodeHook: mapstructure.TextUnmarshallerHookFunc(), Result: &row,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := older.Decode(map[string]any{"id": "7", "null": "8", "ptr": "9"}); err != nil || !reflect.DeepEqual(row, anyRow{7, NullID{ID: 8, Valid: true}, ptr(ID(9))}) {
		t.Errorf("mapstructure before 2.5.0: %+v, %v", row, err)
	}
	if err := older.Decode(map[string]any{"id": "-5"}); err == nil || row.ID != 7 {
		t.Errorf("mapstructure before 2.5.0: %+v, %v", row, err)
	}
	for _, f := range forms() {
		if f.name[:4] != "YAML" {
			continue
		}
		row := anyRow{Null: NullID{ID: 42, Valid: true}}
		if err := f.unmarshal([]byte(`"null": ""`), &row); err != nil || row.Null.Valid {
			t.Errorf("%s: %+v, %v", f.name, row, err)
		}
	}
}

// Lists and maps, whose keys are ids too.
func TestEncodersCollections(t *testing.T) {
	type lists struct {
		IDs   []ID            `bson:"ids"`
		Nulls []NullID        `bson:"nulls"`
		Ptrs  []*ID           `bson:"ptrs"`
		Map   map[ID]ID       `bson:"map"`
		Any   map[string]any  `bson:"any"`
		Two   map[string]*ID  `bson:"two"`
		Inner struct{ ID ID } `bson:"inner"`

		Keys     []Key       `bson:"keys"`
		NullKeys []NullKey   `bson:"null_keys"`
		KeyMap   map[Key]Key `bson:"key_map"`
	}
	in := lists{
		IDs: []ID{0, 7, 1996573624012345677}, Nulls: []NullID{{ID: 7, Valid: true}, {}}, Ptrs: []*ID{ptr(ID(7)), nil},
		Map: map[ID]ID{1996573624012345677: 8}, Two: map[string]*ID{"a": ptr(ID(300)), "b": nil},
		Keys: []Key{0, 7, 1996573624012345677}, NullKeys: []NullKey{{Key: 7, Valid: true}, {}}, KeyMap: map[Key]Key{7: 8},
	}
	in.Inner.ID = 70_000
	for _, f := range forms() {
		switch f.name[:4] {
		case "BSON", "CBOR", "Mess":
		default:
			continue
		}
		b, err := f.marshal(in)
		var out lists
		if err == nil {
			err = f.unmarshal(b, &out)
		}
		if err != nil || !reflect.DeepEqual(in, out) {
			t.Errorf("%s: %+v, %v", f.name, out, err)
		}
		if b, err := f.marshal(map[string]any{"id": ID(-5)}); err == nil {
			t.Errorf("%s: -5 in an any: %q", f.name, b)
		}
	}
}
