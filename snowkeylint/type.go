package snowkeylint

import (
	"go/ast"
	"go/types"
	"slices"
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
	for cur := range p.root.Preorder((*ast.TypeSpec)(nil)) {
		spec := cur.Node().(*ast.TypeSpec)
		o, ok := p.TypesInfo.Defs[spec.Name].(*types.TypeName)
		if s, isStruct := spec.Type.(*ast.StructType); ok && isStruct {
			p.checkEmbedded(o, s)
		} else if t := p.TypesInfo.TypeOf(spec.Type); ok && !spec.Assign.IsValid() && isAnyID(t) && !hasMethod(o.Type(), "MarshalJSON", "MarshalText", "Set") {
			p.report(spec, "type %s has none of the methods of %s, and is a bare number in JSON: declare type %[1]s = %[2]s", o.Name(), p.typeName(t))
		}
	}
}

func isAnyID(t types.Type) bool { return isType(t, sqltypePath, "ID", "Key", "NullID", "NullKey") }

// checkEmbedded reports a struct of several fields that embeds an id. One that is not exported and
// has no tags is taken for a struct that is never written.
func (p *pass) checkEmbedded(o *types.TypeName, s *ast.StructType) {
	tagged := slices.ContainsFunc(s.Fields.List, func(f *ast.Field) bool { return f.Tag != nil })
	for _, f := range s.Fields.List {
		t := p.TypesInfo.TypeOf(f.Type)
		if len(f.Names) > 0 || s.Fields.NumFields() < 2 || !isAnyID(t) || !o.Exported() && !tagged {
			continue
		}
		if m, path, _ := types.LookupFieldOrMethod(o.Type(), true, p.Pkg, "MarshalJSON"); m != nil && len(path) == 1 {
			continue // its own, not that of the id
		}
		p.report(f, "%s gets the methods of the %s that it embeds, so its JSON is the id alone: give the field a name", o.Name(), p.typeName(t))
	}
}
