package lint

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strings"
)

// directives are the comments //nolint of a package.
type directives struct {
	byFile   map[string][]nolint
	external bool // see Config
}

// A nolint is a comment, with the lines to which it applies.
type nolint struct {
	from, to int
	rules    []string // none: all
}

var nolintComment = regexp.MustCompile(`^//\s*nolint(?::\s*([\w\s,-]+))?(?:\s|//|$)`)

func newDirectives(fset *token.FileSet, files []*ast.File, external bool) *directives {
	d := &directives{map[string][]nolint{}, external}
	for _, f := range files {
		var found []nolint
		for _, group := range f.Comments {
			for _, c := range group.List {
				if m := nolintComment.FindStringSubmatch(c.Text); m != nil {
					line := fset.Position(c.Pos()).Line
					found = append(found, nolint{line, line, strings.Fields(strings.ReplaceAll(strings.ToLower(m[1]), ",", " "))})
				}
			}
		}
		if len(found) > 0 {
			extend(fset, f, found)
			d.byFile[fset.Position(f.FileStart).Filename] = found
		}
	}
	return d
}

// extend makes a comment apply to what begins on its line, or to what begins on the line below a
// comment that is alone on its line.
func extend(fset *token.FileSet, f *ast.File, found []nolint) {
	ends := map[int]int{} // of what begins or ends on a line
	ast.Inspect(f, func(n ast.Node) bool {
		switch n.(type) {
		case nil, *ast.Comment, *ast.CommentGroup:
			return false
		}
		from, to := fset.Position(n.Pos()).Line, fset.Position(n.End()).Line
		ends[from], ends[to] = max(ends[from], to), max(ends[to], to)
		return true
	})
	for i := range found {
		r := &found[i]
		if ends[r.to] == 0 {
			r.to++
		}
		r.to = max(r.to, ends[r.to])
	}
}

// cover reports whether a comment applies to the rule at a position.
func (d *directives) cover(rule string, at token.Position) bool {
	return slices.ContainsFunc(d.byFile[at.Filename], func(r nolint) bool {
		return at.Line >= r.from && at.Line <= r.to && (slices.Contains(r.rules, rule) ||
			!d.external && (len(r.rules) == 0 || slices.Contains(r.rules, "snowkeylint") || slices.Contains(r.rules, "all")))
	})
}
