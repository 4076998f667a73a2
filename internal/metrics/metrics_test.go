package metrics

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// docs/metrics.md lists the metrics, with their names, kinds and units.
func TestDocuments(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "metrics.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| `(snowkey_\\w+)` \\| `(snowkey\\.[\\w.]+)` \\| ([^|]+) \\|").FindAllStringSubmatch(string(text), -1) {
		rows[m[2]] = m[1] + ", " + m[3]
	}
	for _, m := range append(List(), State()) {
		want := m.Prometheus() + ", gauge"
		if m.Counter {
			want = m.Prometheus() + ", counter"
		}
		if m.Unit != "" {
			want += ", `" + m.Unit + "`"
		}
		if rows[m.Name] != want {
			t.Errorf("docs/metrics.md has %s as %q, want %q", m.Name, rows[m.Name], want)
		}
		delete(rows, m.Name)
	}
	if len(rows) > 0 {
		t.Errorf("docs/metrics.md also has %v", rows)
	}
}

// Names and units have the form that OpenTelemetry asks for, and no name is the beginning of
// another one.
func TestNames(t *testing.T) {
	name, unit := regexp.MustCompile(`^snowkey(\.[a-z]+(_[a-z]+)*){2}$`), regexp.MustCompile(`^(|s|\{[a-z]+\})$`)
	all := append(List(), State())
	seen := map[string]bool{}
	for _, m := range all {
		if !name.MatchString(m.Name) || !unit.MatchString(m.Unit) || !strings.HasSuffix(m.Help, ".") || seen[m.Name] || seen[m.Prometheus()] {
			t.Errorf("%+v", m)
		}
		seen[m.Name], seen[m.Prometheus()] = true, true
		for _, other := range all {
			if strings.HasPrefix(other.Name, m.Name+".") {
				t.Errorf("%s is also the beginning of %s", m.Name, other.Name)
			}
		}
		if read := m.generator != nil || m.lease != nil || m.both != nil; read == (m.Name == StateKey) {
			t.Errorf("%s has no value", m.Name)
		}
	}
}
