package doctor

import (
	"regexp"
	"slices"
	"testing"

	"github.com/seed-299c1d6b/snowkey/ddl"
)

// The doctor looks for each object that the script of ddl.Generator creates.
func TestGeneratorParts(t *testing.T) {
	script, err := ddl.Generator{Dialect: ddl.Postgres}.Create()
	if err != nil {
		t.Fatal(err)
	}
	names := func(expression, text string) (found []string) {
		for _, m := range regexp.MustCompile(expression).FindAllStringSubmatch(text, -1) {
			found = append(found, m[1])
		}
		slices.Sort(found)
		return slices.Compact(found)
	}
	made := names(`(?:FUNCTION|TABLE|SEQUENCE|VIEW)(?: IF NOT EXISTS)?(?: ' \|\| ')? ?"public"\."snowkey_(\w+)"`, script.String())
	parts := names(`[{,"](\w+)(?:\([^)]*\))?`, regexp.MustCompile(`'{.*}'`).FindString(generatorParts))
	if len(made) == 0 || !slices.Equal(made, parts) {
		t.Errorf("the script creates %q, and the doctor looks for %q", made, parts)
	}
}
