package browser

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// axe finds nothing in any tool, with something in each of its parts, in either colour scheme, and it finds what is wrong.
func TestAxe(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile(filepath.Join(root, "tools", "npm", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		testserver.Missing(t, "no axe-core: npm ci --prefix tools/npm")
	}
	url := serve(t)
	for tool, state := range map[string]string{
		"decode":   "#ids=" + discord,
		"list":     "#ids=" + discord + "%0A0x1236651c78d6d687%0Ano-id%0A2NUKMiAa421",
		"unknown":  "#ids=12345",
		"empty":    "",
		"rounded":  "#ids=2124686841461342200",
		"generate": "#tab=generate&worker=3000",
		"range":    "#tab=range&from=yesterday&to=now",
		"compare":  "#tab=compare&a=" + discord + "&b=1312345678901234567",
		"layout":   "#tab=layout&rate=5000&until=2060&epoch=no",
		"tokens":   "#tab=tokens",
	} {
		t.Run(tool, func(t *testing.T) {
			tb := page(t, url, state)
			eval[bool](tb, string(source)+"; true")
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
