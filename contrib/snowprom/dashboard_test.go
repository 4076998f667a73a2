package snowprom_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/seed-299c1d6b/snowkey/contrib/snowprom"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// dashboard has the expressions of a Grafana dashboard.
type dashboard struct {
	Annotations struct {
		List []struct{ Expr string }
	}
	Panels []struct {
		Targets []struct{ Expr string }
	}
}

func readDashboard(t *testing.T) (d dashboard) {
	t.Helper()
	text, err := os.ReadFile("dashboard.json")
	must(t, err)
	if err := json.Unmarshal(text, &d); err != nil || len(d.Panels) < 10 {
		t.Fatalf("%+v, %v", d, err)
	}
	return d
}

// expressions returns the expressions of the panels and the annotations, with values for Grafana's variables.
func (d dashboard) expressions() (list []string) {
	variables := strings.NewReplacer("$__rate_interval", "1m", "$job", ".*", "$instance", ".*", "$namespace", ".*")
	for _, p := range d.Panels {
		for _, target := range p.Targets {
			list = append(list, variables.Replace(target.Expr))
		}
	}
	for _, a := range d.Annotations.List {
		list = append(list, variables.Replace(a.Expr))
	}
	return list
}

// exported are the labels of all metrics, by name.
func exported(t *testing.T) map[string][]string {
	t.Helper()
	gen := leasedGenerator(t, "orders")
	registry := prometheus.NewRegistry()
	registry.MustRegister(collector(t, snowprom.Config{Generator: gen}))
	families, err := registry.Gather()
	must(t, err)
	all := map[string][]string{}
	for _, family := range families {
		labels := []string{"instance", "job"}
		for _, l := range family.GetMetric()[0].GetLabel() {
			labels = append(labels, l.GetName())
		}
		all[family.GetName()] = labels
	}
	return all
}

// The dashboard shows every metric. It and the rules use no other names and no other labels.
// cmd/snowkey checks the names of snowkey serve.
func TestNames(t *testing.T) {
	all := exported(t)
	text := strings.Join(readDashboard(t).expressions(), "\n")
	rules, err := os.ReadFile("alerts.yml")
	must(t, err)
	used := map[string]bool{}
	labels := append(slices.Concat(slices.Collect(maps.Values(all))...), "__name__", "le", "worker_id", "severity", "alertname", "alertstate")
	serve := []string{"path", "code"}
	for name, text := range map[string]string{"dashboard.json": text, "alerts.yml": string(rules)} {
		for _, m := range regexp.MustCompile(`\bsnowkey_\w+`).FindAllString(text, -1) {
			if _, ok := all[m]; !ok && !slices.Contains(labels, m) && !strings.HasPrefix(m, "snowkey_serve_") {
				t.Errorf("%s: no metric has the name %s", name, m)
			}
			used[m] = used[m] || name == "dashboard.json"
		}
		for _, m := range regexp.MustCompile(`(?:(\w+)(?:=~?|!=)"|by \(([\w, ]+)\)|\$labels\.(\w+))`).FindAllStringSubmatch(text, -1) {
			for l := range strings.SplitSeq(m[1]+m[2]+m[3], ", ") {
				if !slices.Contains(labels, l) && (name != "dashboard.json" || !slices.Contains(serve, l)) {
					t.Errorf("%s: no metric has the label %s", name, l)
				}
			}
		}
	}
	for name := range all {
		if !used[name] {
			t.Errorf("the dashboard does not show %s", name)
		}
	}
}

// promtool parses all expressions: they are written as recording rules.
func TestExpressions(t *testing.T) {
	promtool := testserver.Promtool(t)
	t.Parallel()
	var rules strings.Builder
	rules.WriteString("groups:\n  - name: dashboard\n    rules:\n")
	list := readDashboard(t).expressions()
	for i, expr := range list {
		fmt.Fprintf(&rules, "      - record: panel:%d\n        expr: %q\n", i, expr)
	}
	path := filepath.Join(t.TempDir(), "rules.yml")
	must(t, os.WriteFile(path, []byte(rules.String()), 0o600))
	for _, path := range []string{path, "alerts.yml"} {
		if out, err := exec.CommandContext(t.Context(), promtool, "check", "rules", "--lint=all", "--lint-fatal", path).CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}
	broken := strings.Replace(rules.String(), "sum(", "sum((", 1)
	must(t, os.WriteFile(path, []byte(broken), 0o600))
	if exec.CommandContext(t.Context(), promtool, "check", "rules", path).Run() == nil {
		t.Error("promtool accepts a broken expression")
	}
}
