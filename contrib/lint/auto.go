package snowkeylint

import (
	"go/ast"
	"go/types"
	"reflect"
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/tools/go/analysis"

	"github.com/seed-299c1d6b/snowkey/contrib/lint/internal/ids"
)

func autoRule() rule {
	return rule{name: "snowauto", run: runAuto, doc: `find gorm models with auto-increment keys, although snowkey fills keys

gorm makes an integer key auto-increment. Without snowflake in its tag, the plugin does not fill it.
Without autoIncrement:false, AutoMigrate creates a counter, which may jump into the range of the ids.

	ID int64 ` + "`gorm:\"primaryKey\"`" + `                                // bad
	ID int64 ` + "`gorm:\"primaryKey;autoIncrement:false;snowflake\"`" + `  // good
	ID uint  ` + "`gorm:\"primaryKey;snowflake:-\"`" + `                    // good: auto-increment, on purpose

A model is checked if its package imports gormplugin or sqltype, or has a field with the tag.`}
}

var counted = regexp.MustCompile(`(?i)serial|auto_increment|identity`)

func runAuto(p *pass) {
	if !p.Filled {
		return
	}
	models, exempt, listed := p.models(), p.exemptions(), p.listed()
	p.inspector.Preorder([]ast.Node{(*ast.TypeSpec)(nil)}, func(n ast.Node) {
		spec := n.(*ast.TypeSpec)
		s, ok := spec.Type.(*ast.StructType)
		if !ok {
			return
		}
		o, _ := p.TypesInfo.Defs[spec.Name].(*types.TypeName)
		fields := p.fields(s)
		for _, f := range fields {
			p.checkCounter(f)
		}
		if o == nil || !models[o] || exempt[o] {
			return
		}
		switch keys := primaryKeys(fields); {
		case len(keys) == 1:
			p.checkKey(o.Name(), keys[0], fields)
			if listed[o] {
				p.checkText(o.Name(), keys[0])
			}
		case len(keys) == 0:
			for _, f := range fields {
				if f.v.Embedded() && ids.Is(f.v.Type(), gorm, "Model") && !f.has("-") {
					p.report(f.Type, nil, "the key of gorm.Model in %s is auto-increment, and the plugin does not fill it: embed gormplugin.Model", o.Name())
				}
			}
		default:
			for _, f := range keys {
				if _, tagged := f.snowflake(); tagged && f.v.Name() == "ID" {
					p.checkKey(o.Name(), f, fields)
				}
			}
		}
	})
}

// checkCounter reports a key that is filled and also counted by the database.
func (p *pass) checkCounter(f *field) {
	options, tagged := f.snowflake()
	if never(options) || !tagged && (!ids.IsID(f.v.Type()) || f.v.Name() != "ID") || len(f.settings) == 0 {
		return
	}
	if s, ok := f.setting("AUTOINCREMENT"); ok && !strings.EqualFold(s.Value, "false") {
		p.report(f.Tag, fix("write autoIncrement:false", f.retag("gorm", strings.Replace(reflect.StructTag(f.tag).Get("gorm"), s.Text, "autoIncrement:false", 1))),
			"the tag %q makes the key %s auto-increment: write autoIncrement:false", s.Text, f.v.Name())
	}
	if s, ok := f.setting("TYPE"); ok && counted.MatchString(s.Value) {
		p.report(f.Tag, nil, "the column type %q of %s is auto-increment: use bigint", s.Value, f.v.Name())
	}
}

func primaryKeys(fields []*field) (keys []*field) {
	for _, f := range fields {
		if f.has("PRIMARYKEY", "PRIMARY_KEY") {
			keys = append(keys, f)
		}
	}
	if len(keys) > 0 {
		return keys
	}
	for _, f := range fields {
		if c, ok := f.setting("COLUMN"); !f.v.Embedded() && !f.has("-") && (strings.EqualFold(f.v.Name(), "id") && f.v.Exported() && !ok || ok && strings.EqualFold(c.Value, "id")) {
			return []*field{f}
		}
	}
	return nil
}

// checkKey checks the sole key of a model.
func (p *pass) checkKey(model string, f *field, fields []*field) {
	t := f.v.Type()
	options, tagged := f.snowflake()
	b, ok := t.Underlying().(*types.Basic)
	if !ok || b.Info()&types.IsInteger == 0 || never(options) || hasMethod(t, "GormDataType") {
		return
	}
	auto, said := f.setting("AUTOINCREMENT")
	off := said && strings.EqualFold(auto.Value, "false")
	if said && !off { // it says so; with snowflake, checkCounter has reported it
		return
	}
	if _, generated := f.setting("DEFAULT"); generated || f.has("->") || f.has("<-") && strings.Contains(f.tag, "<-:") {
		return
	}
	if strings.Contains(strings.ToUpper(f.tag), "SNOWF") && !tagged { // snowtag reports it
		return
	}
	if s, ok := misspelled(f); ok && s.Name != "" {
		return
	}
	byHand := p.KindOf(f.v) == ids.Number && !tagged // the program sets it to ids
	switch {
	case tagged && off, byHand && off:
	case tagged:
		p.report(f, p.fixTag(f, "autoIncrement:false"),
			"the key %s.%s is of type %s, so gorm makes it auto-increment: add autoIncrement:false to its gorm tag", model, f.v.Name(), p.name(t))
	case p.isForeign(f, fields):
	case byHand:
		p.report(f, p.fixTag(f, "autoIncrement:false"),
			"the program sets %s.%s to ids, but gorm makes it auto-increment: add autoIncrement:false to its gorm tag", model, f.v.Name())
	case off && p.IsAssigned(f.v): // a natural key
	case off:
		p.report(f, p.fixTag(f, "snowflake"),
			"nothing fills the key %s.%s: add snowflake to its gorm tag, or snowflake:- if the program sets it", model, f.v.Name())
	case b.Kind() == types.Int64 || b.Kind() == types.Uint64:
		p.report(f, p.fixTag(f, "autoIncrement:false", "snowflake"),
			"the key %s.%s is auto-increment: add autoIncrement:false;snowflake to its gorm tag, or snowflake:- if that is intended", model, f.v.Name())
	default:
		p.report(f, nil, "the key %s.%s is auto-increment: use sqltype.ID, or snowflake:- in its gorm tag if that is intended", model, f.v.Name())
	}
}

// checkText checks a key that is a text, of a model that the plugin is to check.
func (p *pass) checkText(model string, f *field) {
	b, ok := f.v.Type().Underlying().(*types.Basic)
	_, tagged := f.snowflake()
	if _, wrong := misspelled(f); !ok || b.Info()&types.IsString == 0 || tagged || wrong || word.MatchString(f.tag) || p.inTest(f.Pos()) {
		return
	}
	p.report(f, nil, "the plugin does not fill the text %s.%s: add snowflake or snowflake:base62 to its gorm tag, or snowflake:- if the program sets it", model, f.v.Name())
}

func (p *pass) fixTag(f *field, add ...string) []analysis.SuggestedFix {
	if len(f.Names) > 1 {
		return nil
	}
	return fix("add "+strings.Join(add, ";"), f.retag("gorm", f.withSettings(add...)))
}

// isForeign reports whether a key is that of another row: UserID beside a field User, or where
// the package has a type User.
func (p *pass) isForeign(f *field, fields []*field) bool {
	name := f.v.Name()
	if len(name) < 3 || !strings.EqualFold(name[len(name)-2:], "id") {
		return false
	}
	name = name[:len(name)-2]
	for _, other := range fields {
		if other.v.Name() == name {
			return true
		}
		if s, ok := other.setting("FOREIGNKEY"); ok && strings.Contains(s.Value, f.v.Name()) {
			return true
		}
	}
	_, ok := p.Pkg.Scope().Lookup(name).(*types.TypeName)
	return ok
}

func never(options []string) bool { return len(options) == 1 && options[0] == "-" }

// exemptions returns the models that Exempt or Tables of a gormplugin.Config names.
func (p *pass) exemptions() map[*types.TypeName]bool {
	exempt, tables := map[*types.TypeName]bool{}, map[string]bool{}
	p.inspector.Preorder([]ast.Node{(*ast.CompositeLit)(nil)}, func(n ast.Node) {
		lit := n.(*ast.CompositeLit)
		if !ids.Is(p.TypesInfo.TypeOf(lit), gormplugin, "Config") {
			return
		}
		for _, e := range lit.Elts {
			kv, ok := e.(*ast.KeyValueExpr)
			if !ok {
				continue
			}
			list, ok := kv.Value.(*ast.CompositeLit)
			if key, _ := kv.Key.(*ast.Ident); !ok || key == nil || key.Name != "Exempt" && key.Name != "Tables" {
				continue
			}
			for _, item := range list.Elts {
				if table, ok := item.(*ast.KeyValueExpr); ok {
					item = table.Key
				}
				if name, ok := p.Constant(item); ok {
					tables[name] = true
				} else if o := rowType(p.TypesInfo.TypeOf(item)); o != nil {
					exempt[o] = true
				}
			}
		}
	})
	if len(tables) > 0 {
		for _, name := range p.Pkg.Scope().Names() {
			if o, ok := p.Pkg.Scope().Lookup(name).(*types.TypeName); ok && (tables[snake(name)] || tables[plural(snake(name))]) {
				exempt[o] = true
			}
		}
	}
	return exempt
}

func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 && !unicode.IsUpper(rune(name[i-1])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

func plural(name string) string {
	switch {
	case strings.HasSuffix(name, "y"):
		return strings.TrimSuffix(name, "y") + "ies"
	case strings.HasSuffix(name, "s"), strings.HasSuffix(name, "x"), strings.HasSuffix(name, "ch"), strings.HasSuffix(name, "sh"):
		return name + "es"
	}
	return name + "s"
}
