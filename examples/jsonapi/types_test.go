package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// The types for TypeScript are those of the JSON that is really sent and read,
// field by field, and each kind of key is a type of its own there as well.
func TestTypesMatch(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("client", "snowkey.d.ts"))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []string{"Order", "Line", "Customer"} {
		if want := "export type " + row + `ID = Key<"` + row + `">;`; !strings.Contains(string(text), want) {
			t.Errorf("%s is missing", want)
		}
	}
	declared := interfaces(string(text))
	ids := 0
	for name, model := range map[string]any{
		"Line": Line{}, "Order": Order{}, "NewLine": draftLine{}, "NewOrder": draft{},
		"OrderChange": change{}, "OrderPage": page{}, "Fault": fault{}, "Problem": problem{},
		"Customer": Customer{}, "NewCustomer": customerDraft{},
	} {
		t.Run(name, func(t *testing.T) {
			want := map[string]string{}
			typ := reflect.TypeOf(model)
			for i := range typ.NumField() {
				tag, options, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
				if tag == "" || tag == "-" {
					continue
				}
				optional := strings.Contains(options, "omitempty")
				kind := script(typ.Field(i).Type)
				// What a client sends is described by check, not by the Go type.
				switch name + "." + tag {
				case "NewLine.quantity", "NewLine.priceCents":
					kind, optional = "number", false
				case "NewOrder.reorderOf":
					kind = "OrderID | null"
				case "NewOrder.customerId":
					kind = "CustomerID | null"
				case "NewOrder.note":
					optional = true
				}
				if optional {
					tag += "?"
				}
				want[tag] = kind
				if strings.HasSuffix(strings.TrimSuffix(kind, " | null"), "ID") {
					ids++
				}
			}
			if !reflect.DeepEqual(declared[name], want) {
				t.Errorf("interface %s declares\n%v\nand Go has\n%v", name, declared[name], want)
			}
			delete(declared, name)
		})
	}
	if len(declared) != 0 || ids != 8 {
		t.Errorf("%d ids; declared and not compared: %v", ids, declared)
	}
}

// script is how a Go type reaches TypeScript.
func script(t reflect.Type) string {
	switch {
	case t.Implements(reflect.TypeFor[sqltype.AnyKey]()) && t.Kind() == reflect.Int64:
		return strings.TrimSuffix(t.Name()[strings.LastIndexByte(t.Name(), '.')+1:], "]") + "ID" // Key[main.Order]
	case t == reflect.TypeFor[time.Time]():
		return "Timestamp"
	case t.Kind() == reflect.Pointer:
		return script(t.Elem())
	case t.Kind() == reflect.Slice:
		name := t.Elem().Name()
		if name == "draftLine" {
			name = "NewLine"
		}
		return strings.ToUpper(name[:1]) + name[1:] + "[]"
	case t.Kind() == reflect.String:
		return "string"
	case t.Kind() == reflect.Int64, t.Kind() == reflect.Int:
		return "number"
	}
	return t.String()
}

var (
	interfaceText = regexp.MustCompile(`(?s)export interface (\w+) \{\n(.*?)\n\}`)
	fieldText     = regexp.MustCompile(`(?m)^  (?:readonly )?(\w+\??): (?:readonly )?([^;]+);$`)
)

func interfaces(text string) map[string]map[string]string {
	all := map[string]map[string]string{}
	for _, found := range interfaceText.FindAllStringSubmatch(text, -1) {
		fields := map[string]string{}
		for _, f := range fieldText.FindAllStringSubmatch(found[2], -1) {
			fields[f[1]] = f[2]
		}
		all[found[1]] = fields
	}
	return all
}

// tsc takes the client and the page as they are. refused.ts has lines in which an id is taken for
// another kind of id, or for a number: tsc reports each that it would accept.
func TestTypeScript(t *testing.T) {
	if testing.Short() && os.Getenv("SNOWKEY_TEST_REQUIRE") != "1" {
		t.Skip("slow: -short leaves the TypeScript compiler out")
	}
	t.Parallel()
	tsc := findTSC()
	if tsc == "" {
		testserver.Missing(t, "no tsc: install the Debian package node-typescript, or npm install --prefix examples/jsonapi/client --no-save typescript")
	}
	if out, err := exec.Command(tsc, "-p", "client").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// findTSC looks where npm puts it beside the client, and in PATH.
func findTSC() string {
	if path, err := filepath.Abs(filepath.Join("client", "node_modules", ".bin", "tsc")); err == nil {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	path, err := exec.LookPath("tsc")
	if err != nil {
		return ""
	}
	return path
}
