package rules

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Packages in which every exported function and method has an example. Methods
// that a reader knows from an interface of the standard library, of gorm, of Prometheus, of core or of an encoder need none.
var exemplary = []string{
	"core", "sqltype", "pgxtype", "pgxtype/pgxload", "ddl", "serial", "gormplugin", "gormplugin/graph", "snowkeytest",
	"worker", "worker/driver", "worker/memstore", "worker/httpstore", "worker/sqlstore", "worker/pgxstore", "worker/redisstore",
	"contrib/entkey", "contrib/entkey/extension", "contrib/bunkey", "contrib/humakey",
	"contrib/snowprom", "contrib/snowotel", "contrib/etcdstore", "contrib/token", "contrib/migrate", "contrib/migrate/backfill",
}

// Functions that have no example that is run, and why. worker/storetest is left out
// altogether: its one function takes a *testing.T, and its package comment shows it.
var exempt = map[string]struct{ names, why string }{
	"sqltype": {
		"ID.Int64 ID.Bitcoin58 ID.Base62 ID.AppendBase32 ID.AppendBitcoin58 ID.AppendBase62 ParseBitcoin58 ParseBase62 Children " +
			"Key.ID Key.Int64 Key.Compare",
		"they are shown in Key, Assign and the methods Base32 and Compare of ID",
	},
	"gormplugin":               {"New Plugin.Close Plugin.Fill Plugin.Generator Plugin.Next", "they are shown in Plugin"},
	"serial":                   {"Codec.AppendEncode Codec.Config Codec.Width Numbers.Width", "they say what Encode, New and Format do"},
	"core":                     {"Discord Instagram Mastodon Sonyflake TSID PgEdge Classic2015 Seconds ManyWorkers JavaScriptSafe", "ExamplePresets shows them"},
	"pgxtype/pgxload":          {"Writer.Table Writer.NextID Writer.Err Table.Row", "they are shown in Load and LoadWith"},
	"contrib/migrate/backfill": {"Run Inspect", "they need a database, and are shown in examples/readme; these examples are compiled"},
	"contrib/migrate":          {"Run Inspect Plan.Left", "they need a database, and are shown in examples/readme; these examples are compiled"},
	"snowkeytest":              {"Store.Claim Store.Renew Store.Release Store.List Store.Free Store.Raise", "they are shown in memstore"},

	"worker/httpstore": {"Store.Claim Store.Renew Store.Release Store.List Store.Free", "they are shown in memstore"},
	"worker/sqlstore": {"Store.Claim Store.Renew Store.Release Store.List Store.Free Store.Raise Store.Namespaces Store.Incarnation Store.Reserve Store.PrepareCounters Store.In InTx.Reserve",
		"they need a database, and are shown in examples/readme, memstore, httpstore (Reserve) and examples/serial"},
	"worker/redisstore":        {"Store.Claim Store.Renew Store.Release Store.List Store.Free", "they need a Redis, and are shown in memstore"},
	"contrib/entkey":           {"Keys Mixin.Fields Typed.Fields", "they need code that ent generates, and are shown in examples/ent"},
	"contrib/entkey/extension": {"New Extension.Hooks", "they are for a program that generates code, which is examples/ent/generate.go"},
	"contrib/bunkey":           {"Dialect Hook.BeforeInsert", "they need a database, and are shown in examples/bun"},
	"contrib/humakey":          {"Param.Schema", "huma calls it"},
	"contrib/etcdstore":        {"HTTPClock Store.Claim Store.Renew Store.Release Store.List Store.Free", "they need an etcd; ExampleHTTPClock is compiled, and the rest shown in memstore"},
}

var known = map[string]bool{
	"Error": true, "String": true, "Unwrap": true, "Is": true, "Initialize": true, "Name": true,
	"Describe": true, "Collect": true, "Observe": true,
	// Those that only an encoder, a database or a framework calls.
	"Format": true, "MarshalXMLAttr": true, "AppendText": true, "MarshalText": true, "UnmarshalText": true,
	"MarshalJSON": true, "UnmarshalJSON": true, "MarshalJSONTo": true, "IsZero": true,
	"Value": true, "Scan": true, "GormDataType": true, "UnmarshalParam": true,
	"MarshalGQLContext": true, "UnmarshalGQLContext": true, "Bind": true,
}

func TestExamples(t *testing.T) {
	for _, pkg := range exemplary {
		t.Run(pkg, func(t *testing.T) {
			dir := filepath.Join("..", "..", pkg)
			if _, err := os.Stat(dir); err != nil {
				t.Fatal(err)
			}
			fset := token.NewFileSet()
			parsed, err := parser.ParseDir(fset, dir, func(fs.FileInfo) bool { return true }, parser.ParseComments) //nolint:staticcheck // the files of one folder are all that is wanted
			if err != nil {
				t.Fatal(err)
			}
			var files []*ast.File
			for _, p := range parsed {
				for _, f := range p.Files {
					files = append(files, f)
				}
			}
			shown, spared := map[string]bool{}, map[string]bool{}
			for _, name := range strings.Fields(exempt[pkg].names) {
				spared[name] = false // not met yet
			}
			for _, e := range doc.Examples(files...) {
				if e.Output == "" && !e.EmptyOutput {
					if _, ok := spared[e.Name]; ok {
						continue
					}
					t.Errorf("%s: Example%s has no output, so it is never run", pkg, e.Name)
				}
				name, suffix, _ := strings.Cut(e.Name, "_")
				shown[name] = true
				if method, _, _ := strings.Cut(suffix, "_"); method != "" {
					shown[name+"."+method] = true
				}
			}
			p, err := doc.NewFromFiles(fset, files, module+pkg)
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			need := func(name string) {
				n++
				if _, ok := spared[name]; ok {
					spared[name] = true
					if shown[name] {
						t.Errorf("%s.%s has an example, and is exempt", pkg, name)
					}
				} else if !shown[name] {
					t.Errorf("%s.%s has no example", pkg, name)
				}
			}
			for _, f := range p.Funcs {
				need(f.Name)
			}
			for _, typ := range p.Types {
				for _, f := range typ.Funcs {
					need(f.Name)
				}
				for _, m := range typ.Methods {
					if ast.IsExported(m.Name) && !known[m.Name] {
						need(typ.Name + "." + m.Name)
					}
				}
			}
			for name, met := range spared {
				if !met {
					t.Errorf("%s.%s is exempt, and there is none", pkg, name)
				}
			}
			if n == 0 {
				t.Errorf("%s: no function was looked at", pkg)
			}
		})
	}
}
