package snowkeylint

import (
	"go/ast"
	"reflect"
	"slices"
	"strings"

	"github.com/seed-299c1d6b/snowkey/contrib/lint/internal/ids"
)

func stringRule() rule {
	return rule{name: "snowstring", run: runString, doc: `find the JSON option string on a sqltype.ID or a sqltype.Key

They are strings in JSON without it. With it, some JSON packages write what they cannot read.

	ID sqltype.ID ` + "`json:\"id,string\"`" + ` // bad
	ID sqltype.ID ` + "`json:\"id\"`" + `        // good`}
}

func runString(p *pass) {
	p.inspector.Preorder([]ast.Node{(*ast.StructType)(nil)}, func(n ast.Node) {
		for _, f := range p.fields(n.(*ast.StructType)) {
			t := f.v.Type()
			if !ids.IsID(t) && !ids.IsNull(t) {
				continue
			}
			options := strings.Split(reflect.StructTag(f.tag).Get("json"), ",")
			if !slices.Contains(options[1:], "string") {
				continue
			}
			kept := slices.DeleteFunc(slices.Clone(options[1:]), func(o string) bool { return o == "string" })
			p.report(f.Tag, fix("remove ,string", f.retag("json", strings.Join(append(options[:1:1], kept...), ","))),
				"a %s is a string in JSON by itself, and some packages quote it twice: remove \",string\"", p.name(t))
		}
	})
}
