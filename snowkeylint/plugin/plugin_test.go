package plugin_test

import (
	"strings"
	"testing"

	"github.com/golangci/plugin-module-register/register"
	"golang.org/x/tools/go/analysis"

	"github.com/seed-299c1d6b/snowkey/snowkeylint"
	_ "github.com/seed-299c1d6b/snowkey/snowkeylint/plugin"
)

// golangci-lint finds the plugin by its name and decodes its settings.
func TestPlugin(t *testing.T) {
	newPlugin, err := register.GetPlugin("snowkeylint")
	if err != nil {
		t.Fatal(err)
	}
	all := len(snowkeylint.Analyzers())
	for name, test := range map[string]struct {
		settings any
		count    int
		fault    string
	}{
		"none":    {nil, all, ""},
		"disable": {map[string]any{"disable": []string{"snowjson", "snowscope"}}, all - 2, ""},
		"no-int":  {map[string]any{"no-int": true}, all, ""},
		"rule":    {map[string]any{"disable": []string{"snowjsn"}}, 0, `Disable: unknown rule "snowjsn"`},
		"setting": {map[string]any{"disabled": []string{"snowjson"}}, 0, `unknown field "disabled"`},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := newPlugin(test.settings)
			if test.fault != "" {
				if err == nil || !strings.Contains(err.Error(), test.fault) {
					t.Errorf("error %v, want %s", err, test.fault)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			analyzers, err := p.BuildAnalyzers()
			if err != nil || len(analyzers) != test.count {
				t.Fatalf("%d analyzers, %v, want %d", len(analyzers), err, test.count)
			}
			if err := analysis.Validate(analyzers); err != nil {
				t.Error(err)
			}
			for _, a := range analyzers {
				if f := a.Flags.Lookup("int"); f != nil && (f.Value.String() == "false") != (name == "no-int") {
					t.Errorf("the flag int is %s", f.Value)
				}
			}
			if mode := p.GetLoadMode(); mode != register.LoadModeTypesInfo {
				t.Errorf("load mode %q: the rules need types", mode)
			}
		})
	}
}
