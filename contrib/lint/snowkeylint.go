package snowkeylint

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/seed-299c1d6b/snowkey/contrib/lint/internal/ids"
)

// Config configures the analyzers. The zero value is ready for use.
type Config struct {
	Disable []string // names of rules to leave out
	// ExternalNolint leaves the comments //nolint and //nolint:snowkeylint to the program that
	// runs the analyzers, as golangci-lint does. Comments that name a rule always count.
	ExternalNolint bool
}

// New returns the analyzers of all rules that are not disabled. The error names a rule that does
// not exist.
func New(cfg Config) ([]*analysis.Analyzer, error) {
	all := rules()
	for _, name := range cfg.Disable {
		if !slices.ContainsFunc(all, func(r rule) bool { return r.name == name }) {
			return nil, fmt.Errorf("snowkeylint: Disable: unknown rule %q: want one of %s", name, strings.Join(names(all), ", "))
		}
	}
	find := ids.Analyzer()
	var analyzers []*analysis.Analyzer
	for _, r := range all {
		if !slices.Contains(cfg.Disable, r.name) {
			analyzers = append(analyzers, r.analyzer(find, cfg.ExternalNolint))
		}
	}
	return analyzers, nil
}

// Analyzers returns the analyzers of all rules.
func Analyzers() []*analysis.Analyzer {
	all, _ := New(Config{}) // it fails for Disable only
	return all
}

func names(all []rule) (names []string) {
	for _, r := range all {
		names = append(names, r.name)
	}
	return names
}
