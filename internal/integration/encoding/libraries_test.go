package encoding

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aymerick/raymond"
	"github.com/bwmarrin/snowflake"
	"github.com/cloudwego/hertz/pkg/app/server/binding"
	"github.com/cloudwego/hertz/pkg/protocol"
	playground "github.com/go-playground/form/v4"
	"github.com/go-playground/validator/v10"
	"github.com/go-viper/mapstructure/v2"
	"github.com/gomodule/redigo/redis"
	"github.com/graphql-go/graphql"
	"github.com/graphql-go/graphql/language/ast"
	"github.com/jinzhu/copier"
	koanfjson "github.com/knadh/koanf/parsers/json"
	"github.com/knadh/koanf/providers/rawbytes"
	"github.com/knadh/koanf/v2"
	"github.com/spf13/viper"
	"github.com/zeromicro/go-zero/rest/httpx"
	"sigs.k8s.io/yaml"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

const someText = "1996573624012345677"

// A library reads or writes ids by their kind, so it needs to be told. trap is what it does otherwise,
// which the table of docs/keys.md says. read reads an id as the table says; it is nil where that is to read a
// string, and to parse it.
type library struct {
	name string
	trap func() string
	want string
	read func(text string) (ID, error)
}

func libraries() []library {
	return []library{
		{"jinzhu/copier", copierTrap, "text \"\\ufffd\"; bad text 0, <nil>", copierRead},
		{"spf13/viper", viperTrap, "15, 1, -9223372036854775808", viperRead},
		{"knadh/koanf", koanfTrap, "1996573624012345600", koanfRead},
		{"sigs.k8s.io/yaml", yamlTrap, "15", yamlRead},
		{"cloudwego/hertz", hertzTrap, "-7, 7, NULL <nil>", nil},
		{"go-playground/form", formTrap, "-7, 0, NULL <nil>", formRead},
		{"zeromicro/go-zero", zeroTrap, "-7", nil},
		{"gomodule/redigo", redigoTrap, "NULL, -7", nil},
		{"graphql-go/graphql", graphqlTrap, "NULL", graphqlRead},
		{"aymerick/raymond", raymondTrap, "7", nil},
		{"go-playground/validator", validatorTrap, "required: <nil>; gt: Bad field type", validatorRead},
		{"bwmarrin/snowflake", bwmarrinTrap, "another id", bwmarrinRead},
	}
}

// What a library does wrong is as the table of docs/keys.md says, and what the table says to write is exact.
func TestLibraries(t *testing.T) {
	page, err := os.ReadFile("../../../docs/keys.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "## Libraries that")
	table, _, _ = strings.Cut(table, "\n## ")
	rows := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^\| ([a-z0-9./-]+/[a-z0-9./-]+)`).FindAllStringSubmatch(table, -1) {
		rows[m[1]] = true
	}
	for _, l := range libraries() {
		if !rows[l.name] {
			t.Errorf("docs/keys.md does not have %s", l.name)
		}
		delete(rows, l.name)
		t.Run(l.name, func(t *testing.T) {
			if got := l.trap(); got != l.want {
				t.Errorf("without advice: %q, want %q: does docs/keys.md still hold?", got, l.want)
			}
			if l.read == nil {
				return
			}
			for _, text := range []string{someText, "9223372036854775807", "1"} {
				if id, err := l.read(text); err != nil || id.String() != text {
					t.Errorf("%s: %v, %v", text, id, err)
				}
			}
			for _, text := range []string{"-7", "+7", "007", "1e3", "0x7", "true", "9223372036854775808", " 7"} {
				if id, err := l.read(text); err == nil {
					t.Errorf("%q is %v", text, id)
				}
			}
		})
	}
	for _, schema := range []string{"google/jsonschema-go", "invopop/jsonschema", "getkin/kin-openapi"} { // package binding tests them
		if !rows[schema] {
			t.Errorf("docs/keys.md does not have %s", schema)
		}
		delete(rows, schema)
	}
	if len(rows) > 0 {
		t.Errorf("not tested: %q", slices.Collect(maps.Keys(rows)))
	}
}

func copierTrap() string {
	var to struct{ ID string }
	err := copier.Copy(&to, struct{ ID ID }{1996573624012345677})
	var back struct{ ID ID }
	errBack := copier.Copy(&back, struct{ ID string }{"x"})
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("text %+q; bad text %d, %v", to.ID, back.ID, errBack)
}

func copierRead(text string) (ID, error) {
	option := copier.Option{Converters: []copier.TypeConverter{
		{SrcType: ID(0), DstType: copier.String, Fn: func(v any) (any, error) { return v.(ID).String(), nil }},
		{SrcType: copier.String, DstType: ID(0), Fn: func(v any) (any, error) { return sqltype.Parse(v.(string)) }},
	}}
	var row struct{ ID ID }
	if err := copier.CopyWithOption(&row, struct{ ID string }{text}, option); err != nil {
		return 0, err
	}
	var again struct{ ID string }
	if err := copier.CopyWithOption(&again, row, option); err != nil || again.ID != text {
		return 0, fmt.Errorf("wrote %q, %w", again.ID, err)
	}
	return row.ID, nil
}

func viperDoc(doc string, hook mapstructure.DecodeHookFunc) (row struct{ ID ID }, err error) {
	v := viper.New()
	v.SetConfigType("yaml")
	if err := v.ReadConfig(strings.NewReader(doc)); err != nil {
		return row, err
	}
	return row, v.Unmarshal(&row, viper.DecodeHook(hook))
}

func viperTrap() string {
	var ids []string
	for _, text := range []string{"017", "true", "9223372036854775808"} {
		row, err := viperDoc("id: "+text, mapstructure.TextUnmarshallerHookFunc())
		if _, errHook := viperDoc("id: "+text, hook()); err != nil || errHook == nil {
			return fmt.Sprint(text, err, errHook)
		}
		ids = append(ids, fmt.Sprintf("%d", row.ID))
	}
	return strings.Join(ids, ", ")
}

func viperRead(text string) (ID, error) {
	row, err := viperDoc(`id: "`+text+`"`, hook())
	return row.ID, err
}

func koanfDoc(doc string, hook mapstructure.DecodeHookFunc) (row struct{ ID ID }, err error) {
	k := koanf.New(".")
	if err := k.Load(rawbytes.Provider([]byte(doc)), koanfjson.Parser()); err != nil {
		return row, err
	}
	return row, k.UnmarshalWithConf("", &row, koanf.UnmarshalConf{DecoderConfig: &mapstructure.DecoderConfig{Result: &row, DecodeHook: hook}})
}

func koanfTrap() string {
	doc := `{"id": 1996573624012345677}`
	row, err := koanfDoc(doc, mapstructure.TextUnmarshallerHookFunc())
	if _, errHook := koanfDoc(doc, hook()); err != nil || errHook == nil {
		return fmt.Sprint(err, errHook)
	}
	return row.ID.String()
}

func koanfRead(text string) (ID, error) {
	row, err := koanfDoc(`{"id": "`+text+`"}`, hook())
	return row.ID, err
}

func yamlTrap() string {
	var row struct{ ID ID }
	if err := yaml.Unmarshal([]byte("ID: 017"), &row); err != nil {
		return err.Error()
	}
	return row.ID.String()
}

func yamlRead(text string) (ID, error) {
	var row struct{ ID ID }
	return row.ID, yaml.Unmarshal([]byte(`ID: "`+text+`"`), &row)
}

func hertzTrap() string {
	var row struct {
		ID   ID     `query:"id"`
		Key  Key    `query:"key"`
		Null NullID `query:"null"`
	}
	req := protocol.NewRequest("GET", "/?id=-7&key=7&null=x", nil)
	err := binding.DefaultBinder().BindQuery(req, &row)
	return fmt.Sprintf("%d, %d, %v %v", row.ID, row.Key, row.Null, err)
}

type formRow struct {
	ID   ID
	More ID
	Null NullID
}

func formTrap() string {
	var row formRow
	err := playground.NewDecoder().Decode(&row, url.Values{"ID": {"-7"}, "More": {""}, "Null": {"7"}})
	return fmt.Sprintf("%d, %d, %v %v", row.ID, row.More, row.Null, err)
}

func formRead(text string) (ID, error) {
	decoder := playground.NewDecoder()
	decoder.RegisterCustomTypeFunc(func(v []string) (any, error) { return sqltype.Parse(v[0]) }, ID(0))
	decoder.RegisterCustomTypeFunc(func(v []string) (any, error) {
		var null NullID
		err := null.UnmarshalText([]byte(v[0]))
		return null, err
	}, NullID{})
	var row formRow
	err := decoder.Decode(&row, url.Values{"ID": {text}, "Null": {text}})
	if err == nil && row.Null != (NullID{ID: row.ID, Valid: true}) {
		err = fmt.Errorf("the NullID is %v", row.Null)
	}
	return row.ID, err
}

func zeroTrap() string {
	var row struct {
		ID ID `json:"id"`
	}
	req := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(`{"id": -7}`))
	req.Header.Set("Content-Type", "application/json")
	if err := httpx.Parse(req, &row); err != nil {
		return err.Error()
	}
	return row.ID.String()
}

// redigoArg is what redigo sends for an argument: fmt.Fprint of a type that it does not know.
func redigoArg(v any) string { return fmt.Sprint(v) }

func redigoTrap() string {
	var row struct {
		ID ID `redis:"id"`
	}
	if err := redis.ScanStruct([]any{[]byte("id"), []byte("-7")}, &row); err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%s, %d", redigoArg(NullID{}), row.ID)
}

func graphqlTrap() string {
	return fmt.Sprint(graphql.ID.Serialize(NullID{}))
}

// graphqlID is the scalar of docs/keys.md.
var graphqlID = graphql.NewScalar(graphql.ScalarConfig{
	Name: "SnowflakeID",
	Serialize: func(v any) any {
		text, err := json.Marshal(v)
		if err != nil || string(text) == "null" {
			return nil
		}
		return strings.Trim(string(text), `"`)
	},
	ParseValue: graphqlParse,
	ParseLiteral: func(v ast.Value) any {
		if s, ok := v.(*ast.StringValue); ok {
			return graphqlParse(s.Value)
		}
		return nil
	},
})

func graphqlParse(v any) any {
	s, _ := v.(string)
	id, err := sqltype.Parse(s)
	if err != nil {
		return nil
	}
	return id
}

func graphqlRead(text string) (ID, error) {
	query := graphql.NewObject(graphql.ObjectConfig{Name: "Query", Fields: graphql.Fields{"same": &graphql.Field{
		Type: graphqlID, Args: graphql.FieldConfigArgument{"id": &graphql.ArgumentConfig{Type: graphql.NewNonNull(graphqlID)}},
		Resolve: func(p graphql.ResolveParams) (any, error) { return p.Args["id"], nil },
	}}})
	schema, err := graphql.NewSchema(graphql.SchemaConfig{Query: query})
	if err != nil {
		return 0, err
	}
	result := graphql.Do(graphql.Params{
		Schema: schema, RequestString: `query($id: SnowflakeID!) { same(id: $id) }`, VariableValues: map[string]any{"id": text},
	})
	if result.HasErrors() {
		return 0, result.Errors[0]
	}
	return sqltype.Parse(result.Data.(map[string]any)["same"].(string))
}

func raymondTrap() string {
	return raymond.MustRender("{{ID}}", map[string]any{"ID": Key(7)})
}

func validatorTrap() (said string) {
	v := validator.New()
	err := v.Struct(struct {
		ID NullID `validate:"required"`
	}{})
	defer func() { said = fmt.Sprintf("required: %v; gt: %.14v", err, recover()) }()
	_ = v.Struct(struct {
		ID NullID `validate:"gt=5"`
	}{NullID{ID: 7, Valid: true}})
	return ""
}

// These three are in docs/keys.md.

func onlyText(from, to reflect.Type, value any) (any, error) {
	if to.PkgPath() == reflect.TypeFor[sqltype.ID]().PkgPath() && from != to && from.Kind() != reflect.String {
		return nil, fmt.Errorf("%v for a %v: write ids as strings", value, to)
	}
	return value, nil
}

func hook() mapstructure.DecodeHookFunc {
	return mapstructure.ComposeDecodeHookFunc(onlyText, mapstructure.TextUnmarshallerHookFunc())
}

func nullID(field reflect.Value) any {
	if id, ok := field.Interface().(sqltype.NullID); ok && id.Valid {
		return id.ID.Int64()
	}
	return nil
}

func validatorRead(text string) (ID, error) {
	v := validator.New()
	v.RegisterCustomTypeFunc(nullID, NullID{})
	var row struct {
		ID NullID `validate:"required,gt=0"`
	}
	if err := v.Struct(row); err == nil {
		return 0, fmt.Errorf("NULL is accepted as required")
	}
	if err := row.ID.UnmarshalText([]byte(text)); err != nil {
		return 0, err
	}
	return row.ID.ID, v.Struct(row)
}

func bwmarrinTrap() string {
	id, err := sqltype.ParseBitcoin58(snowflake.ID(1996573624012345677).Base58())
	if err != nil || id == 1996573624012345677 {
		return fmt.Sprint(id, err)
	}
	return "another id"
}

func bwmarrinRead(text string) (ID, error) {
	id, err := sqltype.Parse(text)
	if err != nil {
		return 0, err
	}
	return sqltype.ParseBwmarrin58(snowflake.ID(id).Base58())
}
