package encoding

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	goccy "github.com/goccy/go-yaml"
	"gopkg.in/yaml.v3"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type yamlRow struct {
	ID     ID        `yaml:"id"`
	Parent NullID    `yaml:"parent"`
	Ptr    *ID       `yaml:"ptr"`
	List   []ID      `yaml:"list,flow"`
	Names  map[ID]ID `yaml:"names"`
}

var yamls = []struct {
	name      string
	marshal   func(any) ([]byte, error)
	unmarshal func([]byte, any) error
	byValue   map[string]ID // numbers that are not in the grammar and are read all the same, by their value
}{
	{"gopkg.in/yaml.v3", yaml.Marshal, yaml.Unmarshal, nil},
	{"goccy/go-yaml", goccy.Marshal, goccy.Unmarshal, map[string]ID{
		"007": 7, "010": 8, "+7": 7, "0x7": 7, "0b11": 3, "1_000": 1000, "7.0": 7,
	}},
}

func TestYAML(t *testing.T) {
	full := yamlRow{1996573624012345677, NullID{ID: 8, Valid: true}, ptr(ID(9)), []ID{1, 2}, map[ID]ID{3: 4}}
	for _, c := range yamls {
		t.Run(c.name, func(t *testing.T) {
			// Quoted, so that no reader makes a float or an octal number of it.
			text, err := c.marshal(full)
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range []string{`id: "1996573624012345677"`, `parent: "8"`, `ptr: "9"`, `list: ["1", "2"]`, `"3": "4"`} {
				if !strings.Contains(string(text), line) {
					t.Errorf("there is no %s in\n%s", line, text)
				}
			}
			var back yamlRow
			if err := c.unmarshal(text, &back); err != nil || !reflect.DeepEqual(back, full) {
				t.Errorf("%+v, %v", back, err)
			}
			text, err = c.marshal(yamlRow{})
			back = full
			if err != nil || !strings.Contains(string(text), "parent: \"\"\nptr: null\n") {
				t.Errorf("unset: %s, %v", text, err)
			}
			if err := c.unmarshal(text, &back); err != nil || back.ID != 0 || back.Parent.Valid || back.Ptr != nil {
				t.Errorf("unset: %+v, %v", back, err)
			}
			if text, err := c.marshal(yamlRow{ID: -7}); !errors.Is(err, sqltype.ErrNegative) {
				t.Errorf("negative: %s, %v", text, err)
			}
			for in, want := range map[string]yamlRow{
				"id: 1996573624012345677":    {ID: 1996573624012345677},
				"id: '7'":                    {ID: 7},
				"id: null":                   {},
				"parent: 7":                  {Parent: NullID{ID: 7, Valid: true}},
				"parent: null":               {},
				"parent:":                    {},
				"parent: ''":                 {},
				"ptr: 7":                     {Ptr: ptr(ID(7))},
				"ptr: null":                  {},
				"list: [1, '2']":             {List: []ID{1, 2}},
				"names: {7: 8, '9': '10'}":   {Names: map[ID]ID{7: 8, 9: 10}},
				"id: 7 # and\nparent: \"8\"": {ID: 7, Parent: NullID{ID: 8, Valid: true}},
			} {
				var row yamlRow
				if err := c.unmarshal([]byte(in), &row); err != nil || !reflect.DeepEqual(row, want) {
					t.Errorf("%s: %+v, %v", in, row, err)
				}
			}
			refused := map[string]error{
				"'007'": sqltype.ErrSyntax, "'+7'": sqltype.ErrSyntax, "'7.0'": sqltype.ErrSyntax, "''": sqltype.ErrSyntax,
				"7.5": sqltype.ErrSyntax, "9007199254740993.0": sqltype.ErrSyntax, "1e3": sqltype.ErrSyntax,
				"true": sqltype.ErrSyntax, "x": sqltype.ErrSyntax, "-7": sqltype.ErrNegative, "9223372036854775808": sqltype.ErrRange,
			}
			for _, in := range []string{"007", "010", "+7", "0x7", "0b11", "1_000", "7.0"} {
				want, ok := c.byValue[in]
				if !ok {
					refused[in] = sqltype.ErrSyntax
					continue
				}
				var row yamlRow
				if err := c.unmarshal([]byte("id: "+in), &row); err != nil || row.ID != want {
					t.Errorf("%s: %d, %v; want %d", in, row.ID, err, want)
				}
			}
			for in, want := range refused {
				for _, key := range []string{"id", "parent", "ptr"} {
					if in == "''" && key == "parent" { // NULL
						continue
					}
					row := yamlRow{ID: 42, Parent: NullID{ID: 42, Valid: true}}
					err := c.unmarshal([]byte(key+": "+in), &row)
					if !errors.Is(err, want) {
						t.Errorf("%s: %s: %v, want %v", key, in, err, want)
					} else if shown := strings.Trim(in, "'"); !strings.Contains(err.Error(), `"`+shown+`"`) && !strings.Contains(shown, ".0") {
						t.Errorf("%s: %s: %v does not quote it", key, in, err)
					}
					if row.ID != 42 || row.Parent.ID != 42 {
						t.Errorf("%s: %s: left %+v", key, in, row)
					}
				}
			}
			for _, in := range []string{"id: [7]", "id: {a: 7}", "names: {'007': 1}", "names: {-7: 1}"} {
				if err := c.unmarshal([]byte(in), new(yamlRow)); err == nil {
					t.Errorf("%s was read", in)
				}
			}
		})
	}
}
