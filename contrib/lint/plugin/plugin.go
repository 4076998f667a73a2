// Package plugin makes snowkeylint a module plugin of golangci-lint.
//
// docs/testing.md in the repository shows how to build golangci-lint with it, and its settings.
//
// golangci-lint applies //nolint:snowkeylint itself. A comment with the name of a rule, such as
// //nolint:snowjson, works as well, with a warning of a linter that golangci-lint does not know.
package plugin

import (
	"fmt"

	"github.com/golangci/plugin-module-register/register"
	"golang.org/x/tools/go/analysis"

	"github.com/seed-299c1d6b/snowkey/contrib/lint"
)

func init() { register.Plugin("snowkeylint", New) } // golangci-lint finds plugins this way only

// Settings are the settings in .golangci.yml. The zero value runs all rules.
type Settings struct {
	Disable []string `json:"disable"` // names of rules
	// NoInt turns off the reports of int and strconv.Atoi, for programs that run on 64 bits only.
	NoInt bool `json:"no-int"`
}

// New is called by golangci-lint. It returns an error for unknown settings and rules.
func New(settings any) (register.LinterPlugin, error) {
	s, err := register.DecodeSettings[Settings](settings)
	if err != nil {
		return nil, fmt.Errorf("snowkeylint: %w", err)
	}
	analyzers, err := lint.New(lint.Config{Disable: s.Disable, ExternalNolint: true})
	if err != nil {
		return nil, err
	}
	for _, a := range analyzers {
		if f := a.Flags.Lookup("int"); f != nil && s.NoInt {
			_ = f.Value.Set("false") // never fails for a bool
		}
	}
	return linter(analyzers), nil
}

type linter []*analysis.Analyzer

func (l linter) BuildAnalyzers() ([]*analysis.Analyzer, error) { return l, nil }

func (linter) GetLoadMode() string { return register.LoadModeTypesInfo }
