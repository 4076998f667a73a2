package keysgen

import (
	"bytes"
	"fmt"
	"go/format"
	"go/types"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize/english"
)

// Tools are those for which Write writes; go is the aliases themselves.
var Tools = []string{"go", "gorm", "gqlgen", "invopop", "jsonschema", "kin-openapi", "sqlc", "swag"} //nolint:gochecknoglobals // constant

// Write returns what a tool must be told about the keys.
func (p *Package) Write(tool string) ([]byte, error) {
	var b bytes.Buffer
	if write := map[string]func(*bytes.Buffer){"gqlgen": p.gqlgen, "sqlc": p.sqlc, "swag": p.swag}[tool]; write != nil {
		write(&b)
		return b.Bytes(), nil
	}
	if tool == "gorm" {
		return p.goFile(p.gorm(&b), &b, "gorm.io/cli/gorm/field", "gorm.io/cli/gorm/genconfig")
	}
	if s, ok := schemas[tool]; ok {
		p.schema(&b, s)
		return p.goFile(nil, &b, "reflect", s.path)
	}
	return p.goFile(p.aliases(&b), &b)
}

// A schema is what a library that makes JSON schemas of Go types must be told, because it takes the kind
// of a key, an integer.
type schema struct{ path, begin, entry, id, null, end string }

var schemas = map[string]schema{ //nolint:gochecknoglobals // constant
	"jsonschema": {
		path:  "github.com/google/jsonschema-go/jsonschema",
		begin: "// KeyTypeSchemas is for jsonschema.ForOptions, also of the tools of MCP.\nvar KeyTypeSchemas = map[reflect.Type]*jsonschema.Schema{\n",
		entry: "reflect.TypeFor[%s](): %s,\n", id: `{Type: "string"}`, null: `{Types: []string{"null", "string"}}`,
		end: "}\n",
	},
	"invopop": {
		path:  "github.com/invopop/jsonschema",
		begin: "// KeyMapper is for jsonschema.Reflector.\nfunc KeyMapper(t reflect.Type) *jsonschema.Schema {\nswitch t {\n",
		entry: "case reflect.TypeFor[%s]():\nreturn %s\n", id: `&jsonschema.Schema{Type: "string"}`,
		null: `&jsonschema.Schema{OneOf: []*jsonschema.Schema{{Type: "string"}, {Type: "null"}}}`,
		end:  "}\nreturn nil\n}\n",
	},
	"kin-openapi": {
		path:  "github.com/getkin/kin-openapi/openapi3",
		begin: "// KeyCustomizer is for openapi3gen.SchemaCustomizer.\nfunc KeyCustomizer(_ string, t reflect.Type, _ reflect.StructTag, schema *openapi3.Schema) error {\nswitch t {\n",
		entry: "case reflect.TypeFor[%s]():\n*schema = *%s\n", id: "openapi3.NewStringSchema()", null: "openapi3.NewStringSchema().WithNullable()",
		end: "}\nreturn nil\n}\n",
	},
}

func (p *Package) schema(b *bytes.Buffer, s schema) {
	fmt.Fprintf(b, "\n%s"+s.entry+s.entry, s.begin, "sqltype.ID", s.id, "sqltype.NullID", s.null)
	for _, r := range p.rows {
		fmt.Fprintf(b, s.entry+s.entry, "sqltype.Key["+r.typ+"]", s.id, "sqltype.NullKey["+r.typ+"]", s.null)
	}
	b.WriteString(s.end)
}

// goFile adds the package and the imports to code.
func (p *Package) goFile(err error, code *bytes.Buffer, paths ...string) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	specs := map[string]bool{}
	for _, r := range p.rows {
		if name, _, other := strings.Cut(r.typ, "."); other && strings.Contains(code.String(), "["+name+".") {
			specs[strings.TrimPrefix(fmt.Sprintf("%s %q", name, r.named.Pkg().Path()), path.Base(r.named.Pkg().Path())+" ")] = true
		}
	}
	for _, path := range append(paths, sqltypePath) {
		specs[strconv.Quote(path)] = true
	}
	imports := strings.Join(slices.Sorted(maps.Keys(specs)), "\n")
	return format.Source(fmt.Appendf(nil, "// %s\n\npackage %s\n\nimport (\n%s\n)\n%s", Marker, p.Name, imports, code))
}

func (p *Package) aliases(b *bytes.Buffer) error {
	for _, r := range p.rows {
		for _, kind := range []string{"Key", "NullKey"} {
			if !r.own[kind] {
				fmt.Fprintf(b, "\n// %s is the %[2]s of %[3]s.\ntype %[1]s = sqltype.%[2]s[%[3]s]\n", r.alias[kind], kind, r.typ)
			}
		}
	}
	if b.Len() == 0 {
		return fmt.Errorf("%s: no key lacks an alias", p.PkgPath)
	}
	return nil
}

// gorm writes the configuration of gorm gen. It looks a type up as it is written, so a key has an entry
// for each way. The helper Number has In, which that of other types lacks.
func (p *Package) gorm(b *bytes.Buffer) error {
	unmapped := regexp.MustCompile(`.sqltype\.(Null)?Key\[|sqltype\.(Null)?Key\[\w+\.[a-z]`) // a pointer or slice; an unexported T
	for _, id := range inOrder(p.TypesInfo.Defs) {
		if v, ok := p.TypesInfo.Defs[id].(*types.Var); ok && v.IsField() && v.Exported() && unmapped.MatchString(short(v.Type())) {
			return p.errorf(id.Pos(), "field %s: gorm gen cannot write %q: write its alias", id.Name, short(v.Type()))
		}
	}
	fmt.Fprint(b, "\nvar _ = genconfig.Config{\nOutPath: \"./g\", // as without a configuration\nFieldTypeMap: map[any]any{\nsqltype.ID(0): field.Number[sqltype.ID]{},\nsqltype.NullID{}: field.Number[sqltype.ID]{},\n")
	for _, r := range p.rows {
		for _, typ := range []string{"sqltype.Key[" + r.typ + "](0)", r.alias["Key"] + "(1)", "sqltype.NullKey[" + r.typ + "]{}", r.alias["NullKey"] + "{}"} {
			fmt.Fprintf(b, "%s: field.Number[%s]{},\n", typ, r.alias["Key"])
		}
	}
	fmt.Fprint(b, "},\n}\n")
	return nil
}

func (p *Package) gqlgen(b *bytes.Buffer) {
	fmt.Fprintf(b, "# %s\nmodels:\n", Marker)
	const entry = "  %s:\n    model:\n      - %s.%s\n      - %[2]s.%[4]s\n"
	if p.plain {
		fmt.Fprintf(b, entry, "ID", sqltypePath, "ID", "NullID")
	}
	for _, r := range p.rows {
		fmt.Fprintf(b, entry, strings.TrimSuffix(r.alias["Key"], "Key")+"ID", p.PkgPath, r.alias["Key"], r.alias["NullKey"])
	}
}

// sqlc writes the usual columns of a key: orders.id, and order_id in each table.
func (p *Package) sqlc(b *bytes.Buffer) {
	fmt.Fprintf(b, "# %s\n# List other columns first, those that may be NULL with NullOrderKey for OrderKey.\noverrides:\n", Marker)
	for _, r := range p.rows {
		name := strings.ToLower(regexp.MustCompile(`([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])`).ReplaceAllString(r.named.Name(), "${1}${3}_${2}${4}"))
		fmt.Fprintf(b, "  - column: %s.id\n    go_type: %s.%s\n  - column: \"*.%s_id\"\n    go_type: %[2]s.%[3]s\n", english.PluralWord(2, name, ""), p.PkgPath, r.alias["Key"], name)
	}
	if p.plain { // the names of bigint in PostgreSQL, and in others
		for _, typ := range []string{"pg_catalog.int8", "int8", "bigint", "bigint\n    unsigned: true"} {
			fmt.Fprintf(b, "  - db_type: %s\n    go_type: %s.ID\n  - db_type: %[1]s\n    nullable: true\n    go_type: %[2]s.NullID\n", typ, sqltypePath)
		}
	}
}

// swag writes overrides. It looks up how a type is written, so it need not parse sqltype, then its path.
func (p *Package) swag(b *bytes.Buffer) {
	fmt.Fprintf(b, "// %s\n// No override can say that an id may be null: tag such fields extensions:\"x-nullable\".\nreplace sqltype.ID string\nreplace sqltype.NullID string\n", Marker)
	for _, r := range p.rows {
		typ := r.named.Pkg().Name() + "." + r.named.Name()
		for _, kind := range []string{"Key", "NullKey"} {
			fmt.Fprintf(b, "replace sqltype.%s[%s] string\nreplace %s.%s string\n", kind, typ, p.PkgPath, r.alias[kind])
		}
	}
}
