package snowkeylint

import (
	"go/ast"
	"go/types"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-299c1d6b/snowkey/contrib/lint/internal/ids"
)

func tagRule() rule {
	return rule{name: "snowtag", run: runTag, doc: `find tags for the plugin that are misspelled or in the wrong place

gorm ignores settings that it does not know, so the field is not filled.

	ID int64 ` + "`gorm:\"primaryKey;autoIncrement:false;snowflak\"`" + `   // bad
	ID int64 ` + "`gorm:\"primaryKey\" snowflake:\"orders\"`" + `            // bad
	ID int64 ` + "`gorm:\"primaryKey,snowflake\"`" + `                      // bad
	ID int64 ` + "`gorm:\"primaryKey;autoIncrement:false;snowflake\"`" + `  // good`}
}

func runTag(p *pass) {
	named := p.sourceNames()
	p.inspector.Preorder([]ast.Node{(*ast.StructType)(nil)}, func(n ast.Node) {
		for _, f := range p.fields(n.(*ast.StructType)) {
			if f.Tag != nil {
				p.checkTag(f, named)
			}
		}
	})
}

// misspelled returns the setting that should be snowflake.
func misspelled(f *field) (ids.Setting, bool) {
	for _, s := range f.settings {
		if s.Name != "SNOWFLAKE" && (strings.HasPrefix(s.Name, "SNOW") || ids.Resembles(s.Name, "SNOWFLAKE")) {
			return s, true
		}
	}
	return ids.Setting{}, false
}

var (
	word = regexp.MustCompile(`(?i)\bsnowflake\b`)
	// Spaces around a colon, or other quotes, hide a key from reflect.StructTag.
	malformed = regexp.MustCompile("(?i)\\bgorm\\s*[:=]\\s*[\"']?")
)

func (p *pass) checkTag(f *field, named map[string]bool) {
	tag, isGorm := reflect.StructTag(f.tag).Lookup("gorm")
	if !isGorm && word.MatchString(f.tag) && malformed.MatchString(f.tag) {
		p.report(f.Tag, nil, "the tag %s is not of the form `gorm:\"…\"`, so gorm does not read snowflake", f.Tag.Value)
		return
	}
	p.checkOutside(f, tag)
	p.checkOtherKey(f)
	if s, ok := misspelled(f); ok {
		p.checkMisspelled(f, tag, s)
		return
	}
	for _, s := range f.settings {
		if !free[s.Name] && joined.MatchString(s.Text) {
			p.report(f.Tag, fix("separate the settings with ;", f.retag("gorm", strings.Replace(tag, s.Text, separated(s.Text), 1))),
				"gorm separates settings with a semicolon, and does not find snowflake in %q", s.Text)
			return
		}
	}
	if options, tagged := f.snowflake(); !p.checkStray(f) && tagged {
		p.checkOptions(f, options, named)
	}
}

// free are the settings whose value is any text.
var free = map[string]bool{"SNOWFLAKE": true, "COMMENT": true, "DEFAULT": true, "CHECK": true}

// joined finds snowflake after or before a comma or a space.
var joined = regexp.MustCompile(`(?i)[,\s]snowflake(?:$|[,:\s])|^snowflake[,\s]`)

var comma = regexp.MustCompile(`[,\s]+`)

// separated writes a,b:c as a;b:c.
func separated(text string) string { return comma.ReplaceAllString(strings.TrimSpace(text), ";") }

// checkOutside reports a tag beside the gorm tag. Other packages read a tag snowflake too, so on
// a field that is no key it counts only with a value of ours.
func (p *pass) checkOutside(f *field, tag string) {
	if _, tagged := f.snowflake(); tagged {
		return
	}
	value, ok := reflect.StructTag(f.tag).Lookup("snowflake")
	if !ok && !strings.Contains(f.tag, "snowflake:") && slices.Contains(strings.Fields(f.tag), "snowflake") && tag != "" {
		p.report(f.Tag, nil, "snowflake is outside of the gorm tag: write `gorm:\"%s\"`", f.withSettings("snowflake"))
		return
	}
	key := f.has("PRIMARYKEY", "PRIMARY_KEY") || strings.EqualFold(f.v.Name(), "id")
	if ok && (key && p.Filled || tag != "" && slices.Contains([]string{"", "-", "decimal", "base62"}, value)) {
		setting := "snowflake"
		if value != "" && value != "true" {
			setting += ":" + value
		}
		p.report(f.Tag, nil, "the tag snowflake is beside the gorm tag: write `gorm:\"%s\"`", f.withSettings(setting))
	}
}

var otherKey = regexp.MustCompile(`(\w+):"[^"]*,\s*snowflake\s*(?:,[^"]*)?"`)

// checkOtherKey reports snowflake among the options of another key, such as json.
func (p *pass) checkOtherKey(f *field) {
	m := otherKey.FindStringSubmatch(f.tag)
	if m == nil || m[1] == "gorm" {
		return
	}
	if _, tagged := f.snowflake(); !tagged {
		p.report(f.Tag, nil, "snowflake is in the tag of %s, where the plugin does not look: write `gorm:\"%s\"`", m[1], f.withSettings("snowflake"))
	}
}

func (p *pass) checkMisspelled(f *field, tag string, s ids.Setting) {
	name, _, _ := strings.Cut(s.Text, ":")
	if name = strings.TrimSpace(name); word.MatchString(name) && !strings.ContainsAny(name, " ,=") {
		return
	}
	want := "snowflake" + strings.TrimPrefix(s.Text, name)
	if _, value, ok := strings.Cut(name, "="); ok {
		want = "snowflake:" + strings.TrimSpace(value)
	}
	if strings.Contains(name, ",") {
		want = separated(s.Text)
	}
	p.report(f.Tag, fix("write "+want, f.retag("gorm", strings.Replace(tag, s.Text, want, 1))),
		"gorm does not know the setting %q: write %s", strings.TrimSpace(s.Text), want)
}

// checkStray reports options of snowflake that a semicolon separates from it, and whether there is one.
func (p *pass) checkStray(f *field) (found bool) {
	for _, s := range f.settings {
		if (s.Name == "BASE62" || s.Name == "DECIMAL") && s.Value == "" {
			value, tagged := f.setting("SNOWFLAKE")
			if !tagged {
				p.report(f.Tag, nil, "%s is an option of snowflake: write snowflake:%[1]s", strings.ToLower(s.Name))
				return true
			}
			joined := "snowflake:" + strings.ToLower(s.Name)
			if value.Value != "" {
				joined = "snowflake:" + value.Value + "," + strings.ToLower(s.Name)
			}
			p.report(f.Tag, nil, "%s is an option of snowflake: write %s", strings.ToLower(s.Name), joined)
			return true
		}
	}
	return false
}

func (p *pass) checkOptions(f *field, options []string, named map[string]bool) {
	source := ""
	for _, option := range options {
		switch {
		case option == "-" || option == "decimal" || option == "base62":
		case ids.Resembles(option, "base62") && strings.HasPrefix(strings.ToLower(option), "b"), option == "base58", option == "base32", ids.Resembles(option, "decimal") && len(option) > 5:
			p.report(f.Tag, nil, "snowflake has no option %q: the forms of a text are decimal and base62", option)
			return
		case source != "":
			p.report(f.Tag, nil, "the tag snowflake names two sources, %q and %q", source, option)
			return
		default:
			source = option
		}
	}
	if never(options) {
		return
	}
	if source != "" && named != nil && !named[source] {
		p.report(f.Tag, nil, "no gormplugin.Config of this package has a source %q in Named: it has %s", source, quoted(named))
	}
	t := f.v.Type()
	if ptr, ok := t.Underlying().(*types.Pointer); ok {
		t = ptr.Elem()
	}
	if _, isStruct := t.Underlying().(*types.Struct); isStruct && (f.v.Embedded() || f.has("EMBEDDED") || isOwn(t, p.Pkg)) && !ids.IsNull(t) && !hasMethod(t, "Scan") {
		p.report(f.Tag, nil, "the tag snowflake is on the field that embeds or refers to %s: put it on the key itself", p.name(t))
		return
	}
	b, _ := t.Underlying().(*types.Basic)
	text := b != nil && b.Info()&types.IsString != 0
	switch {
	case ids.IsNull(t):
	case b == nil || !text && !wide(p, b):
		p.report(f.Tag, nil, "a field of type %s cannot hold a key of 63 bits: use sqltype.ID, int64, uint64 or string", p.name(f.v.Type()))
	case slices.Contains(options, "base62") && !text:
		p.report(f.Tag, nil, "base62 is a form of texts, and %s is of type %s", f.v.Name(), p.name(f.v.Type()))
	case text:
		need := 19
		if slices.Contains(options, "base62") {
			need = 11
		}
		if s, ok := f.setting("SIZE"); ok {
			if n, err := strconv.Atoi(s.Value); err == nil && n < need {
				p.report(f.Tag, nil, "size:%d is too short for a key of %d characters", n, need)
			}
		}
	}
}

// isOwn reports whether a type is declared in the package.
func isOwn(t types.Type, pkg *types.Package) bool {
	n := ids.Named(t)
	return n != nil && n.Obj().Pkg() == pkg
}

// wide reports whether an integer holds 64 bits.
func wide(p *pass, b *types.Basic) bool {
	return b.Info()&types.IsInteger != 0 && p.TypesSizes.Sizeof(b) >= 8
}

// sourceNames returns the names in Named of all plugins that the package configures, or nil if
// it configures none, or one whose names are not constant.
func (p *pass) sourceNames() map[string]bool {
	names, known := map[string]bool{}, true
	count := 0
	p.inspector.Preorder([]ast.Node{(*ast.CompositeLit)(nil)}, func(n ast.Node) {
		lit := n.(*ast.CompositeLit)
		if !ids.Is(p.TypesInfo.TypeOf(lit), gormplugin, "Config") || p.inTest(lit.Pos()) {
			return
		}
		value := element(lit, "Named")
		if value == nil {
			return
		}
		count++
		sources, ok := ast.Unparen(value).(*ast.CompositeLit)
		if !ok {
			known = false
			return
		}
		for _, e := range sources.Elts {
			kv, ok := e.(*ast.KeyValueExpr)
			if !ok {
				known = false
				return
			}
			name, ok := p.Constant(kv.Key)
			known = known && ok
			names[name] = true
		}
	})
	if !known || count == 0 {
		return nil
	}
	return names
}

func quoted(names map[string]bool) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		all = append(all, strconv.Quote(name))
	}
	return strings.Join(all, ", ")
}
