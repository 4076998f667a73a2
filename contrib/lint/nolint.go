package snowkeylint

import (
	"go/ast"
	"go/token"
	"regexp"
	"strings"
)

// directives are the comments //nolint of a package.
type directives struct {
	ranges   map[string][]ignoredRange // by file
	external bool
}

// An ignoredRange is the lines to which a directive applies.
type ignoredRange struct {
	from, to int
	rules    []string // none: all
}

var directive = regexp.MustCompile(`^//\s*nolint(?::\s*([\w\s,-]+))?(?:\s|//|$)`)

func newDirectives(fset *token.FileSet, files []*ast.File, external bool) *directives {
	d := &directives{ranges: map[string][]ignoredRange{}, external: external}
	for _, f := range files {
		var found []ignoredRange
		for _, group := range f.Comments {
			for _, c := range group.List {
				if m := directive.FindStringSubmatch(c.Text); m != nil {
					line := fset.Position(c.Pos()).Line
					found = append(found, ignoredRange{line, line, splitRules(m[1])})
				}
			}
		}
		if len(found) > 0 {
			extend(fset, f, found)
			d.ranges[fset.Position(f.FileStart).Filename] = found
		}
	}
	return d
}

func splitRules(list string) (rules []string) {
	for name := range strings.SplitSeq(list, ",") {
		if name = strings.ToLower(strings.TrimSpace(name)); name != "" {
			rules = append(rules, name)
		}
	}
	return rules
}

// extend makes a directive apply to what begins on its line, or to what begins on the line below
// a directive that is alone on its line.
func extend(fset *token.FileSet, f *ast.File, found []ignoredRange) {
	code := map[int]bool{} // lines on which something begins
	ends := map[int]int{}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n.(type) {
		case nil, *ast.Comment, *ast.CommentGroup:
			return false
		}
		from, to := fset.Position(n.Pos()).Line, fset.Position(n.End()).Line
		code[from], code[to] = true, true
		ends[from] = max(ends[from], to)
		return true
	})
	for i := range found {
		r := &found[i]
		if !code[r.from] {
			r.to++
		}
		r.to = max(r.to, ends[r.to])
	}
}

// cover reports whether a directive applies to the rule at a position.
func (d *directives) cover(rule string, at token.Position) bool {
	for _, r := range d.ranges[at.Filename] {
		if at.Line < r.from || at.Line > r.to {
			continue
		}
		if len(r.rules) == 0 && !d.external {
			return true
		}
		for _, name := range r.rules {
			if name == rule || !d.external && (name == "snowkeylint" || name == "all") {
				return true
			}
		}
	}
	return false
}
