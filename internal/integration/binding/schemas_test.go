package binding

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3gen"
	googleschema "github.com/google/jsonschema-go/jsonschema"
	"github.com/invopop/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-299c1d6b/snowkey/internal/integration/binding/schemas"
)

type schemaMaker func(told bool) (any, error)

func googleSchema(told bool) (any, error) {
	var options googleschema.ForOptions
	if told {
		options.TypeSchemas = schemas.KeyTypeSchemas
	}
	return googleschema.For[schemas.Order](&options)
}

func invopopSchema(told bool) (any, error) {
	reflector := jsonschema.Reflector{ExpandedStruct: true, DoNotReference: true}
	if told {
		reflector.Mapper = schemas.KeyMapper
	}
	return reflector.Reflect(schemas.Order{}), nil
}

func kinSchema(told bool) (any, error) {
	var options []openapi3gen.Option
	if told {
		options = append(options, openapi3gen.SchemaCustomizer(schemas.KeyCustomizer))
	}
	return openapi3gen.NewSchemaRefForValue(schemas.Order{}, nil, options...)
}

// Libraries that make a JSON schema of a Go type take an ID for an integer, and a NullID for an object, until
// the code that snowkey keys writes corrects them.
func TestSchemas(t *testing.T) {
	for name, schemaOf := range map[string]schemaMaker{"google/jsonschema-go": googleSchema, "invopop/jsonschema": invopopSchema, "getkin/kin-openapi": kinSchema} {
		t.Run(name, func(t *testing.T) {
			for told, want := range map[bool]string{false: "integer", true: "string"} {
				schema, err := schemaOf(told)
				if err != nil {
					t.Fatal(err)
				}
				text, err := json.Marshal(schema)
				if err != nil {
					t.Fatal(err)
				}
				var doc struct{ Properties map[string]map[string]any }
				if err := json.Unmarshal(text, &doc); err != nil || len(doc.Properties) != 6 {
					t.Fatalf("%v in %s", err, text)
				}
				if got := doc.Properties["id"]["type"]; got != want {
					t.Errorf("id is %v, want %s", got, want)
				}
				for name, property := range doc.Properties {
					if told && (!strings.Contains(fmt.Sprint(property), "string") || strings.Contains(fmt.Sprint(property), "integer")) {
						t.Errorf("%s is %v", name, property)
					}
					nullable := strings.Contains(fmt.Sprint(property), "null")
					if null := name == "parent_id" || name == "gift_id"; told && null && !nullable {
						t.Errorf("%s may not be null: %v", name, property)
					}
				}
			}
		})
	}
}

// A tool of MCP gets the id that the client sent, or the client gets an error.
func TestMCP(t *testing.T) {
	for _, told := range []bool{false, true} {
		input, err := googleSchema(told)
		if err != nil {
			t.Fatal(err)
		}
		var seen *schemas.Order
		server := mcp.NewServer(&mcp.Implementation{Name: "orders"}, nil)
		mcp.AddTool(server, &mcp.Tool{Name: "order", InputSchema: withoutRequired(t, input)},
			func(_ context.Context, _ *mcp.CallToolRequest, order schemas.Order) (*mcp.CallToolResult, any, error) {
				seen = &order
				return &mcp.CallToolResult{}, nil, nil
			})
		toServer, toClient := mcp.NewInMemoryTransports()
		if _, err := server.Connect(t.Context(), toServer, nil); err != nil {
			t.Fatal(err)
		}
		session, err := mcp.NewClient(&mcp.Implementation{Name: "client"}, nil).Connect(t.Context(), toClient, nil)
		if err != nil {
			t.Fatal(err)
		}
		for arguments, want := range map[string]int64{
			`{"sku_id": "1996573624012345677"}`: 1996573624012345677,
			`{"sku_id": 1996573624012345600}`:   0, // as a client in JavaScript sends it
		} {
			seen = nil
			result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "order", Arguments: json.RawMessage(arguments)})
			refused := err != nil || result.IsError
			switch {
			case want != 0 && told && (refused || seen.SkuID.Int64() != want):
				t.Errorf("%s: %+v, %v, %+v", arguments, result, err, seen)
			case want == 0 && (!refused || seen != nil):
				t.Errorf("told %v, %s: %+v, %v, %+v", told, arguments, result, err, seen)
			}
		}
		_ = session.Close()
	}
}

// withoutRequired lets a call leave fields out.
func withoutRequired(t *testing.T, schema any) any {
	t.Helper()
	s, ok := schema.(*googleschema.Schema)
	if !ok {
		t.Fatalf("%T", schema)
	}
	s.Required = nil
	return s
}
