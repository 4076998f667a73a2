package sqltype

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	htmltemplate "html/template"
	"log"
	"log/slog"
	"strings"
	"testing"
	texttemplate "text/template"
)

// hiddenRow's ids are hidden by tokens.
type hiddenRow struct {
	ID     Key[hiddenRow]
	Parent NullKey[hiddenRow]
	Ptr    *Key[hiddenRow]
	List   []Key[hiddenRow]
	Names  map[Key[hiddenRow]]string
}

func (*hiddenRow) KeyForm() Form { return Form{Prefix: "hid", Sealer: mask} }

// What writes the texts of keys does not show the id that a Sealer hides. What writes numbers does:
// docs/security.md lists it, and this test is the list.
func TestHiddenIDs(t *testing.T) {
	const id = 1996573624012345677
	key := Key[hiddenRow](id)
	row := hiddenRow{key, NullKey[hiddenRow]{key, true}, &key, []Key[hiddenRow]{key}, map[Key[hiddenRow]]string{key: "x"}}
	values := []any{key, &key, row.Parent, &row.Parent, row, &row, row.List, row.Names, fmt.Errorf("key %v", key)}

	writers := map[string]func(v any) string{
		"html/template": func(v any) string {
			var b bytes.Buffer
			text := `<a href="/x/{{.}}" title="{{.}}" onclick="f({{.}})">{{.}}</a><script>g({{.}})</script>`
			err := htmltemplate.Must(htmltemplate.New("").Parse(text)).Execute(&b, v)
			return b.String() + fmt.Sprint(err)
		},
		"text/template": func(v any) string {
			var b bytes.Buffer
			err := texttemplate.Must(texttemplate.New("").Parse(`{{.}} {{print .}} {{printf "%v" .}} {{urlquery .}}`)).Execute(&b, v)
			return b.String() + fmt.Sprint(err)
		},
		"json": func(v any) string { b, err := json.Marshal(v); return fmt.Sprint(string(b), err) },
		"xml":  func(v any) string { b, err := xml.Marshal(v); return fmt.Sprint(string(b), err) },
		"slog": func(v any) string {
			var b bytes.Buffer
			slog.New(slog.NewTextHandler(&b, nil)).Info("m", "v", v, slog.Group("g", "v", v))
			slog.New(slog.NewJSONHandler(&b, nil)).Info("m", "v", v, slog.Group("g", "v", v))
			return b.String()
		},
		"log": func(v any) string {
			var b bytes.Buffer
			log.New(&b, "", 0).Println(v)
			return b.String()
		},
	}
	for _, verb := range []string{"%v", "%+v", "%s", "%q", "%40v", "%+s"} {
		writers[verb] = func(v any) string { return fmt.Sprintf(verb, v) }
	}
	for name, write := range writers {
		t.Run(name, func(t *testing.T) {
			for _, v := range values {
				if text := write(v); showsID(text, id) {
					t.Errorf("%T: %s", v, text)
				}
			}
		})
	}
	t.Run("errors", func(t *testing.T) {
		for _, err := range []error{
			new(Key[plainRow]).Scan(key), new(Key[plainRow]).Scan(&key),
			new(Key[plainRow]).UnmarshalText([]byte(key.String())),
		} {
			if err == nil || showsID(err.Error(), id) {
				t.Errorf("%v", err)
			}
		}
	})

	shown := map[string]string{
		"%d": fmt.Sprintf("%d", key), "%x": fmt.Sprintf("%x", row), "%#v": fmt.Sprintf("%#v", row.Parent),
		"unexported field": fmt.Sprint(struct{ id Key[hiddenRow] }{key}), "Base32": key.ID().Base32(),
	}
	for name, text := range shown {
		if !showsID(text, id) {
			t.Errorf("%s hides the id now, say so in docs/security.md: %s", name, text)
		}
	}
}

// showsID reports whether a text has an id in one of its usual forms.
func showsID(text string, id ID) bool {
	for _, form := range []string{id.String(), fmt.Sprintf("%x", id), id.Base32(), id.Bitcoin58(), id.Base62()} {
		if strings.Contains(strings.ToLower(text), strings.ToLower(form)) {
			return true
		}
	}
	return false
}

// A text that is tagged ",string" was a number of an int64 before its field became a Key.
func TestKeyTaggedString(t *testing.T) {
	type document struct {
		ID     Key[prefixedRow] `json:"id,string"`
		Plain  Key[plainRow]    `json:"plain,string"`
		Hidden *Key[hiddenRow]  `json:"hidden,string"`
	}
	hidden := Key[hiddenRow](9)
	in := document{7, 5, &hidden}
	b, err := json.Marshal(in)
	want := `{"id":"row_0000000000007","plain":"5","hidden":"` + hidden.String() + `"}`
	if err != nil || string(b) != want {
		t.Fatalf("%s, %v, want %s", b, err, want)
	}
	var out document
	if err := json.Unmarshal(b, &out); err != nil || out.ID != in.ID || out.Plain != in.Plain || *out.Hidden != hidden {
		t.Errorf("%+v, %v", out, err)
	}
}
