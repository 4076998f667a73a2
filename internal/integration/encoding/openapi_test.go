package encoding

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3gen"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type schemaRow struct {
	ID     ID      `json:"id"`
	Parent NullID  `json:"parent"`
	Ptr    *ID     `json:"ptr"`
	List   []ID    `json:"list"`
	Key    Key     `json:"key"`
	Null   NullKey `json:"null"`
	Price  float64 `json:"price"`
}

// huma sees that an ID is a string.
func TestHuma(t *testing.T) {
	schema := huma.SchemaFromType(huma.NewMapRegistry("#/", huma.DefaultSchemaNamer), reflect.TypeFor[schemaRow]())
	for property, want := range map[string]string{
		"id":     `{"type":"string"}`,
		"parent": `{"type":"string"}`, // null has to be allowed by hand
		"ptr":    `{"type":["string","null"]}`,
		"list":   `{"type":["array","null"],"items":{"type":"string"}}`,
		"key":    `{"type":"string"}`,
		"null":   `{"type":"string"}`,
	} {
		checkSchema(t, property, schema.Properties[property], want)
	}
}

// kin-openapi sees an int64, and needs a customizer.
func TestKinOpenAPI(t *testing.T) {
	const wrong = `{"type":"integer","format":"int64"}`
	plain, err := openapi3gen.NewSchemaRefForValue(schemaRow{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	checkSchema(t, "id", plain.Value.Properties["id"], wrong)
	customized, err := openapi3gen.NewSchemaRefForValue(schemaRow{}, nil, openapi3gen.SchemaCustomizer(
		func(_ string, typ reflect.Type, _ reflect.StructTag, schema *openapi3.Schema) error {
			switch {
			case typ == reflect.TypeFor[ID]():
				schema.Type, schema.Format = &openapi3.Types{"string"}, "int64"
			case typ == reflect.TypeFor[NullID]():
				schema.Type, schema.Format, schema.Nullable = &openapi3.Types{"string"}, "int64", true
			case typ.Implements(reflect.TypeFor[sqltype.AnyKey]()): // of any T
				*schema = openapi3.Schema{Type: &openapi3.Types{"string"}, Nullable: typ.Kind() == reflect.Struct}
			}
			return nil
		}))
	if err != nil {
		t.Fatal(err)
	}
	for property, want := range map[string]string{
		"id":     `{"type":"string","format":"int64"}`,
		"parent": `{"type":"string","format":"int64","nullable":true}`,
		"ptr":    `{"type":"string","format":"int64","nullable":true}`,
		"list":   `{"type":"array","items":{"type":"string","format":"int64"}}`,
		"price":  `{"type":"number","format":"double"}`,
		"key":    `{"type":"string"}`,
		"null":   `{"type":"string","nullable":true}`,
	} {
		checkSchema(t, property, customized.Value.Properties[property], want)
	}
}

func checkSchema(t *testing.T, property string, schema any, want string) {
	t.Helper()
	text, err := json.Marshal(schema)
	var got, expected any
	if err == nil {
		err = json.Unmarshal(text, &got)
	}
	if err := json.NewDecoder(strings.NewReader(want)).Decode(&expected); err != nil {
		t.Fatal(err)
	}
	if err != nil || !reflect.DeepEqual(got, expected) {
		t.Errorf("%s: %s, %v; want %s", property, text, err, want)
	}
}
