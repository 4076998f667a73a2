// Package ids finds out which values of a package are ids, although their type is int64 or
// string.
//
// A value is an id if its type is one of package sqltype, if it comes from a generator, from a
// conversion of an id or from a field with the tag snowflake, or if it is a variable, a field, a
// result or a parameter to which such a value is assigned. The order of statements plays no part.
// A parameter is an id only if every call in the package passes one.
package ids

import (
	"go/ast"
	"go/types"
	"reflect"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// Kind says how a value holds an id.
type Kind uint8

// The kinds.
const (
	None    Kind = iota
	Number       // an integer
	Text         // its decimal text
	Short        // a text of fixed width
	Numbers      // a list of integers
	Texts        // a list of decimal texts
)

// Info says what is known of a package. The rules read it at the same time, so nothing changes it
// after the pass that makes it.
type Info struct {
	// Relevant is false for a package that neither uses snowkey nor a package that does.
	Relevant bool
	Imports  bool // it imports a package of snowkey
	Filled   bool // it imports gormplugin or sqltype, or a field has the tag snowflake

	pass    *analysis.Pass
	kinds   map[types.Object]Kind
	results map[*types.Func][]Kind
	graph
	sources map[source]bool // what becomes an id
	wanted  map[types.Object]bool
}

// Analyzer makes the Info of a package.
func Analyzer() *analysis.Analyzer {
	return &analysis.Analyzer{
		Name:       "snowids",
		Doc:        "find the values that are ids\n\nIt reports nothing; the rules of snowkeylint share what it finds.",
		Run:        run,
		ResultType: reflect.TypeFor[*Info](),
		FactTypes:  []analysis.Fact{new(kindsFact), new(relevantFact)},
	}
}

// kindsFact is attached to a field or a variable, with its kind, and to a function, with the
// kinds of its results.
type kindsFact struct{ Kinds []Kind }

func (*kindsFact) AFact() {}

// relevantFact is attached to packages whose Info is relevant.
type relevantFact struct {
	Fixed []int64 // the constant arguments of core.Fixed
}

func (*relevantFact) AFact() {}

func run(pass *analysis.Pass) (any, error) {
	in := &Info{
		pass: pass, kinds: map[types.Object]Kind{}, results: map[*types.Func][]Kind{},
		sources: map[source]bool{}, wanted: map[types.Object]bool{},
	}
	if in.lookAtImports(); !in.Relevant && !in.hasTag() {
		return in, nil
	}
	in.Relevant = true
	in.collect()
	in.spread()
	in.want()
	in.export()
	pass.ExportPackageFact(&relevantFact{in.fixed})
	return in, nil
}

func (in *Info) lookAtImports() {
	for _, p := range in.pass.Pkg.Imports() {
		if p.Path() == Root || strings.HasPrefix(p.Path(), Root+"/") {
			in.Relevant, in.Imports = true, true
		}
		if p.Path() == Sqltype || p.Path() == Root+"/gormplugin" {
			in.Filled = true
		}
		if in.pass.ImportPackageFact(p, new(relevantFact)) {
			in.Relevant = true
		}
	}
}

// hasTag reports whether a declared type has a field that means the tag snowflake.
func (in *Info) hasTag() bool {
	found := false
	for _, f := range in.pass.Files {
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); ok {
				ast.Inspect(g, func(n ast.Node) bool {
					if f, ok := n.(*ast.Field); ok && f.Tag != nil && ResemblesTag(f.Tag.Value) {
						found = true
					}
					return !found
				})
			}
		}
	}
	return found
}

// ResemblesTag reports whether a tag has a gorm setting that is snowflake or a misspelling of it.
func ResemblesTag(tag string) bool {
	if !strings.Contains(tag, "gorm") {
		return false
	}
	tag = strings.Trim(tag, "`")
	for _, s := range Settings(reflect.StructTag(tag).Get("gorm")) {
		if Resembles(s.Name, "SNOWFLAKE") {
			return true
		}
	}
	return false
}

// Resembles reports whether a name is another, or a misspelling of it: at most two letters are
// changed, added or removed.
func Resembles(name, want string) bool {
	if d := len(name) - len(want); d < -2 || d > 2 {
		return false
	}
	row := make([]int, len(want)+1) // the Levenshtein distance to each prefix of want
	for j := range row {
		row[j] = j
	}
	for i := range len(name) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(want) {
			change := diagonal
			if name[i] != want[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(want)] <= 2
}

func (in *Info) export() {
	for o, k := range in.kinds {
		if k != None && o.Pkg() == in.pass.Pkg && (isField(o) || o.Parent() == in.pass.Pkg.Scope()) {
			in.pass.ExportObjectFact(o, &kindsFact{[]Kind{k}})
		}
	}
	for f, kinds := range in.results {
		if f.Pkg() == in.pass.Pkg {
			in.pass.ExportObjectFact(f, &kindsFact{kinds})
		}
	}
}

// FixedIn returns the constant arguments of core.Fixed in another package.
func (in *Info) FixedIn(pkg *types.Package) []int64 {
	var fact relevantFact
	in.pass.ImportPackageFact(pkg, &fact)
	return fact.Fixed
}

func isField(o types.Object) bool {
	v, ok := o.(*types.Var)
	return ok && v.IsField()
}

// KindOf returns the kind of an object.
func (in *Info) KindOf(o types.Object) Kind {
	if o == nil {
		return None
	}
	if v, ok := o.(*types.Var); ok {
		o = v.Origin()
	}
	k, known := in.kinds[o]
	if known || o.Pkg() == nil || o.Pkg() == in.pass.Pkg {
		return k
	}
	var fact kindsFact
	if in.pass.ImportObjectFact(o, &fact) && len(fact.Kinds) == 1 {
		return fact.Kinds[0]
	}
	return None
}

// resultsOf returns the kinds of a function's results.
func (in *Info) resultsOf(f *types.Func) []Kind {
	kinds, known := in.results[f]
	if known || f.Pkg() == nil || f.Pkg() == in.pass.Pkg {
		return kinds
	}
	var fact kindsFact
	in.pass.ImportObjectFact(f, &fact)
	return fact.Kinds
}
