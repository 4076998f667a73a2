package snowkeylint

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/analysis"

	"github.com/seed-299c1d6b/snowkey/contrib/lint/internal/ids"
)

func typeRule() rule {
	return rule{name: "snowtype", run: runType, doc: `find types that lose the methods of an id, or gain them by embedding

A type declared as sqltype.ID or sqltype.Key has none of their methods: in JSON it is a bare number,
and it reads and writes negative ids. A struct that embeds an id has all of them: its JSON is the id.

	type OrderID sqltype.ID                          // bad
	type OrderID = sqltype.Key[Order]                // good
	type Order struct { sqltype.ID; Note string }    // bad
	type Order struct { ID sqltype.ID; Note string } // good`}
}

func runType(p *pass) {
	// A type that is declared over one of these lacks the methods as well.
	derived := map[*types.TypeName]bool{}
	var specs []*ast.TypeSpec
	p.inspector.Preorder([]ast.Node{(*ast.TypeSpec)(nil)}, func(n ast.Node) {
		specs = append(specs, n.(*ast.TypeSpec))
	})
	for grown := true; grown; {
		grown = false
		for _, spec := range specs {
			o, ok := p.TypesInfo.Defs[spec.Name].(*types.TypeName)
			if !ok || spec.Assign.IsValid() || derived[o] {
				continue
			}
			right := types.Unalias(p.TypesInfo.TypeOf(spec.Type))
			n, ok := right.(*types.Named)
			if ok && (ids.IsID(n) || ids.IsNull(n) || derived[n.Origin().Obj()]) {
				derived[o], grown = true, true
			}
		}
	}
	for _, spec := range specs {
		o, _ := p.TypesInfo.Defs[spec.Name].(*types.TypeName)
		if derived[o] && !hasMethod(o.Type(), "MarshalJSON", "MarshalText") {
			p.reportDerived(spec, o)
		}
		if s, ok := spec.Type.(*ast.StructType); ok && o != nil {
			p.checkEmbedded(o, s)
		}
	}
}

func (p *pass) reportDerived(spec *ast.TypeSpec, o *types.TypeName) {
	var fixes []analysis.SuggestedFix
	if n, ok := o.Type().(*types.Named); ok && n.NumMethods() == 0 && spec.TypeParams == nil {
		fixes = fix("declare an alias", analysis.TextEdit{Pos: spec.Type.Pos(), End: spec.Type.Pos(), NewText: []byte("= ")})
	}
	p.report(spec, fixes, "type %s has none of the methods of %s, and is a bare number in JSON: declare type %[1]s = %[2]s",
		o.Name(), p.name(p.TypesInfo.TypeOf(spec.Type)))
}

// checkEmbedded reports a struct of several fields that embeds an id.
func (p *pass) checkEmbedded(o *types.TypeName, s *ast.StructType) {
	if s.Fields.NumFields() < 2 {
		return
	}
	for _, f := range p.fields(s) {
		t := f.v.Type()
		if !f.v.Embedded() || !ids.IsID(t) && !ids.IsNull(t) {
			continue
		}
		if n, ok := o.Type().(*types.Named); ok && ownMethod(n, "MarshalJSON") {
			continue
		}
		var fixes []analysis.SuggestedFix
		if f.v.Name() == "ID" {
			fixes = fix("name the field", analysis.TextEdit{Pos: f.Pos(), End: f.Pos(), NewText: []byte("ID ")})
		}
		p.report(f, fixes, "%s gets the methods of the %s that it embeds, so its JSON is the id alone: give the field a name", o.Name(), p.name(t))
	}
}

func ownMethod(n *types.Named, name string) bool {
	for m := range n.Methods() {
		if m.Name() == name {
			return true
		}
	}
	return false
}
