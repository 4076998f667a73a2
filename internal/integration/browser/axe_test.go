package browser

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// axe is the accessibility checker: one package of npm without dependencies.
const axe = "axe-core@4.10.3"

// axeSource returns the checker's program. npx downloads and keeps it, like the linter of OpenAPI
// in internal/rules.
func axeSource(t *testing.T) string {
	t.Helper()
	required := os.Getenv("SNOWKEY_TEST_NPX") == "1"
	if os.Getenv("SNOWKEY_TEST_FULL") != "1" && !required {
		t.Skip("downloads a checker: SNOWKEY_TEST_FULL=1 runs it")
	}
	out, err := exec.Command("npx", "--yes", "--package="+axe, "--", "node", "-p", "process.env.PATH.split(require('path').delimiter)[0]").Output()
	if err == nil { // the first folder of the path has the package's commands
		var source []byte
		if source, err = os.ReadFile(filepath.Join(strings.TrimSpace(string(out)), "..", "axe-core", "axe.min.js")); err == nil {
			return string(source)
		}
	}
	if required {
		t.Fatalf("npx %s: %v; SNOWKEY_TEST_NPX=1", axe, err)
	}
	t.Skip("no npx")
	return ""
}

// axe finds nothing in any tool, with something in each of its parts, in either colour scheme, and it finds what is wrong.
func TestAxe(t *testing.T) {
	t.Parallel()
	source := axeSource(t)
	url := serve(t)
	for tool, state := range map[string]string{
		"decode":   "#ids=" + discord,
		"list":     "#ids=" + discord + "%0A0x1236651c78d6d687%0Ano-id%0A2NUKMiAa421",
		"unknown":  "#ids=12345",
		"generate": "#tab=generate&worker=3000",
		"range":    "#tab=range&from=yesterday&to=now",
		"compare":  "#tab=compare&a=" + discord + "&b=1312345678901234567",
		"layout":   "#tab=layout&rate=5000&until=2060&epoch=no",
		"tokens":   "#tab=tokens",
	} {
		t.Run(tool, func(t *testing.T) {
			tb := page(t, url, state)
			eval[bool](tb, source+"; true")
			find := func() []string {
				return eval[[]string](tb, "axe.run().then((r) => r.violations.flatMap((v) => v.nodes.map((n) => `${v.id}: ${v.help}: ${n.html.slice(0, 200)}`)))")
			}
			for _, dark := range []bool{false, true} {
				tb.scheme(dark)
				for _, fault := range find() {
					t.Errorf("dark %v: %s", dark, fault)
				}
			}
			tb.run("document.querySelector('main > section:not([hidden])').append(Object.assign(new Image(), { src: 'icon.svg' }))")
			if len(find()) == 0 {
				t.Error("an image without a text is not found")
			}
		})
	}
}
