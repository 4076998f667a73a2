package binding

import (
	"encoding/json"
	"maps"
	"os"
	"testing"
)

// swag documents each id as a string, and those that may be NULL as nullable.
func TestSwag(t *testing.T) {
	text, err := os.ReadFile("swag/swagger.json")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Definitions map[string]struct {
			Properties map[string]map[string]any
		}
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{} // whether it is nullable
	for row, definition := range doc.Definitions {
		for name, property := range definition.Properties {
			if property["type"] != "string" {
				t.Errorf("%s.%s: %v, want a string", row, name, property)
			}
			found[row+"."+name] = property["x-nullable"] == true
		}
	}
	want := map[string]bool{
		"models.Order.id": false, "models.Order.parentId": true, "models.Order.number": false, "models.Line.id": false,
		"models.Line.orderId": false, "models.Line.replaces": true, "models.Line.gift": false, "models.Line.skuId": false,
	}
	if !maps.Equal(found, want) {
		t.Errorf("found %v, want %v", found, want)
	}
}
