package snowkeylint

import (
	"go/ast"
	"go/types"
	"reflect"
	"strconv"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/seed-299c1d6b/snowkey/contrib/lint/internal/ids"
)

const (
	gorm       = "gorm.io/gorm"
	gormplugin = ids.Root + "/gormplugin"
)

// A field is a field of a struct in the source.
type field struct {
	*ast.Field
	v        *types.Var
	tag      string // without its quotes
	settings []ids.Setting
}

func (f *field) setting(names ...string) (ids.Setting, bool) { return ids.Find(f.settings, names...) }

// has reports whether the gorm tag has the setting, and does not say that it is false.
func (f *field) has(names ...string) bool {
	s, ok := f.setting(names...)
	return ok && !strings.EqualFold(s.Value, "false")
}

// snowflake returns the options of the tag snowflake, and whether the field has it.
func (f *field) snowflake() (options []string, tagged bool) {
	s, ok := f.setting("SNOWFLAKE")
	for option := range strings.SplitSeq(s.Value, ",") {
		if option = strings.TrimSpace(option); option != "" {
			options = append(options, option)
		}
	}
	return options, ok
}

// fields returns the fields of a struct.
func (p *pass) fields(s *ast.StructType) (all []*field) {
	for _, f := range s.Fields.List {
		tag := ""
		if f.Tag != nil {
			tag, _ = strconv.Unquote(f.Tag.Value)
		}
		settings := ids.Settings(reflect.StructTag(tag).Get("gorm"))
		if len(f.Names) == 0 {
			if v := embedded(p.TypesInfo, s, f); v != nil {
				all = append(all, &field{f, v, tag, settings})
			}
		}
		for _, name := range f.Names {
			if v, ok := p.TypesInfo.Defs[name].(*types.Var); ok {
				all = append(all, &field{f, v, tag, settings})
			}
		}
	}
	return all
}

// embedded returns the variable of an embedded field.
func embedded(info *types.Info, s *ast.StructType, f *ast.Field) *types.Var {
	t, ok := info.TypeOf(s).(*types.Struct)
	if !ok {
		return nil
	}
	for i := range t.NumFields() {
		if v := t.Field(i); v.Embedded() && v.Pos() >= f.Pos() && v.Pos() < f.End() {
			return v
		}
	}
	return nil
}

// retag returns the edit that changes the value of one key of a field's tag.
func (f *field) retag(key, value string) analysis.TextEdit {
	entry := key + ":" + strconv.Quote(value)
	if f.Tag == nil {
		return analysis.TextEdit{Pos: f.Type.End(), End: f.Type.End(), NewText: []byte(" `" + entry + "`")}
	}
	old, ok := reflect.StructTag(f.tag).Lookup(key)
	tag := f.tag
	if ok {
		tag = strings.Replace(tag, key+":"+strconv.Quote(old), entry, 1)
	} else {
		tag = strings.TrimSpace(tag + " " + entry)
	}
	if strings.Contains(tag, "`") {
		return replace(f.Tag, strconv.Quote(tag))
	}
	return replace(f.Tag, "`"+tag+"`")
}

// withSettings returns the gorm tag with settings added.
func (f *field) withSettings(add ...string) string {
	tag := strings.TrimRight(reflect.StructTag(f.tag).Get("gorm"), "; ")
	for _, s := range add {
		if tag != "" {
			tag += ";"
		}
		tag += s
	}
	return tag
}

// models returns the structs of the package that are evidently models of gorm: those with a gorm
// tag or an embedded gorm.Model, those with TableName, those that a call of gorm gets, and those that these embed
// or refer to.
func (p *pass) models() map[*types.TypeName]bool {
	models := map[*types.TypeName]bool{}
	for o := range p.listed() {
		models[o] = true
	}
	p.inspector.Preorder([]ast.Node{(*ast.TypeSpec)(nil), (*ast.CallExpr)(nil)}, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.TypeSpec:
			if s, ok := n.Type.(*ast.StructType); ok && p.evident(n, s) {
				if o, ok := p.TypesInfo.Defs[n.Name].(*types.TypeName); ok {
					models[o] = true
				}
			}
		case *ast.CallExpr:
			f := ids.Callee(p.TypesInfo, n)
			if !ids.IsMethod(f, gorm, "DB", "Create", "CreateInBatches", "Save", "AutoMigrate", "Model", "First", "Find", "Take", "Last") {
				return
			}
			for _, arg := range n.Args {
				if o := rowType(p.TypesInfo.TypeOf(arg)); o != nil && o.Pkg() == p.Pkg {
					models[o] = true
				}
			}
		}
	})
	for grown := true; grown; {
		grown = false
		for o := range models {
			s, ok := o.Type().Underlying().(*types.Struct)
			if !ok {
				continue
			}
			for i := range s.NumFields() {
				if ids.Settings(reflect.StructTag(s.Tag(i)).Get("gorm")) != nil && strings.Contains(s.Tag(i), `gorm:"-`) {
					continue
				}
				if ref := rowType(s.Field(i).Type()); ref != nil && ref.Pkg() == p.Pkg && !models[ref] && !isValuer(ref.Type()) {
					models[ref] = true
					grown = true
				}
			}
		}
	}
	return models
}

// listed returns the types of the package in Config.Models of a plugin, and those that
// gormplugin.Validate gets: their keys must be filled.
func (p *pass) listed() map[*types.TypeName]bool {
	all := map[*types.TypeName]bool{}
	add := func(list []ast.Expr) {
		for _, e := range list {
			if o := rowType(p.TypesInfo.TypeOf(e)); o != nil && o.Pkg() == p.Pkg {
				all[o] = true
			}
		}
	}
	p.inspector.Preorder([]ast.Node{(*ast.CallExpr)(nil), (*ast.CompositeLit)(nil)}, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.CallExpr:
			if ids.IsFunc(ids.Callee(p.TypesInfo, n), gormplugin, "Validate") {
				add(n.Args)
			}
		case *ast.CompositeLit:
			if ids.Is(p.TypesInfo.TypeOf(n), gormplugin, "Config") {
				if list, ok := element(n, "Models").(*ast.CompositeLit); ok {
					add(list.Elts)
				}
			}
		}
	})
	return all
}

// evident reports whether a struct's own declaration shows that it is a model.
func (p *pass) evident(spec *ast.TypeSpec, s *ast.StructType) bool {
	for _, f := range p.fields(s) {
		if len(f.settings) > 0 && !strings.Contains(f.tag, `gorm:"-`) || f.v.Embedded() && (ids.Is(f.v.Type(), gorm, "Model") || ids.Is(f.v.Type(), gormplugin, "Model")) {
			return true
		}
	}
	o := p.TypesInfo.Defs[spec.Name]
	if o == nil {
		return false
	}
	m, _, _ := types.LookupFieldOrMethod(types.NewPointer(o.Type()), true, p.Pkg, "TableName")
	f, ok := m.(*types.Func)
	return ok && f.Signature().Params().Len() == 0
}

// rowType returns the struct that a value holds: itself, behind pointers, or in a list.
func rowType(t types.Type) *types.TypeName {
	for {
		if t == nil {
			return nil
		}
		switch u := types.Unalias(t).(type) {
		case *types.Pointer:
			t = u.Elem()
		case *types.Slice:
			t = u.Elem()
		case *types.Array:
			t = u.Elem()
		case *types.Named:
			if _, ok := u.Underlying().(*types.Struct); ok {
				return u.Origin().Obj()
			}
			return nil
		default:
			return nil
		}
	}
}

// isValuer reports whether a struct is stored in one column.
func isValuer(t types.Type) bool { return hasMethod(t, "Value") || hasMethod(t, "GormDataType") }

// hasMethod reports whether a type, or the pointer to it, has one of the methods.
func hasMethod(t types.Type, names ...string) bool {
	if _, ok := t.Underlying().(*types.Interface); !ok {
		if _, ok := types.Unalias(t).(*types.Pointer); !ok {
			t = types.NewPointer(t)
		}
	}
	set := types.NewMethodSet(t)
	for _, name := range names {
		if set.Lookup(nil, name) != nil {
			return true
		}
	}
	return false
}
