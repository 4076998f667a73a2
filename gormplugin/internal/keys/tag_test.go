package keys

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"gorm.io/gorm/schema"
)

func FuzzTag(f *testing.F) {
	for _, text := range []string{"", "-", "orders", "orders,base62", " base62 , orders ", "a,b", "decimal", "base62,base62", ",,", "snowflake", `a\\`, "a;b"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		o, err := parseOptions(text)
		if err != nil {
			if o != (options{}) {
				t.Errorf("%q gives %+v and %v", text, o, err)
			}
			return
		}
		words := strings.FieldsFunc(text, func(r rune) bool { return r == ',' })
		for i := range words {
			words[i] = strings.TrimSpace(words[i])
		}
		has := func(word string) bool { return strings.Contains(","+strings.Join(words, ",")+",", ","+word+",") }
		if o.never != has("-") || o.base62 != has("base62") || o.source != "" && !has(o.source) {
			t.Errorf("%q gives %+v", text, o)
		}
		// A name that New takes can be said in a tag, and is read as it was said.
		if checkSourceName(text) != nil {
			return
		}
		field := &schema.Field{Tag: reflect.StructTag(fmt.Sprintf(`gorm:%q`, "primaryKey;snowflake:"+text+",base62"))}
		if o, tagged, err := readTag(field); !tagged || err != nil || o != (options{source: text, base62: true}) {
			t.Errorf("the name %q is read as %+v, %t, %v", text, o, tagged, err)
		}
	})
}
