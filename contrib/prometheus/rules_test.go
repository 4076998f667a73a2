package prometheus_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

var update = flag.Bool("update", false, "write alerts_test.yml from the series of this run")

var (
	alertText  = regexp.MustCompile(`(?ms)^      - alert: (\w+)\n(.*?)(?:\n\n|\z)`)
	metricName = regexp.MustCompile(`\bsnowkey_\w+`)
)

// alert is a rule of alerts.yml.
type alert struct{ name, severity, summary, description string }

func alerts(t *testing.T) (list []alert, metrics []string) {
	t.Helper()
	text, err := os.ReadFile("alerts.yml")
	if err != nil {
		t.Fatal(err)
	}
	field := func(body, name string) string {
		m := regexp.MustCompile(`(?m)^ +` + name + `: (.+)$`).FindStringSubmatch(body)
		if m == nil {
			t.Fatalf("a rule has no %s:\n%s", name, body)
		}
		return m[1]
	}
	for _, m := range alertText.FindAllStringSubmatch(string(text), -1) {
		list = append(list, alert{m[1], field(m[2], "severity"), field(m[2], "summary"), field(m[2], "description")})
	}
	if n := strings.Count(string(text), "- alert:"); n != len(list) || n < 10 {
		t.Fatalf("%d of %d alerts were read", len(list), n)
	}
	metrics = metricName.FindAllString(string(text), -1)
	slices.Sort(metrics)
	return list, slices.Compact(metrics)
}

// Each alert fires when it should, and at no other of the times that are looked at, on series that
// leases and generators leave in failures. The file with the series of an earlier run passes too.
func TestAlerts(t *testing.T) {
	promtool := testserver.Promtool(t)
	t.Parallel()
	var file strings.Builder
	fmt.Fprintf(&file, "# Made by go test -run TestAlerts -update ./contrib/prometheus: the series are recorded from\n# leases and generators whose stores and clocks fail.\nrule_files: [alerts.yml]\nevaluation_interval: %v\ntests:\n", every)
	rules, used := alerts(t)
	proven := map[string]bool{}
	for _, f := range failures() {
		writeTest(&file, f, record(t, f), rules, used, proven)
	}
	for _, a := range rules {
		if !proven[a.name] {
			t.Errorf("no failure makes %s fire", a.name)
		}
	}
	const name = "alerts_test.yml"
	if *update {
		if err := os.WriteFile(name, []byte(file.String()), 0o644); err != nil { //nolint:gosec // everybody may read it
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	rulesText, err := os.ReadFile("alerts.yml")
	if err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{"alerts.yml": string(rulesText), "now.yml": file.String()} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{filepath.Join(dir, "now.yml"), name} {
		if out, err := exec.CommandContext(t.Context(), promtool, "test", "rules", path).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", path, err, out)
		}
	}
	kept, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := skeleton(file.String()), skeleton(string(kept)); a != b {
		t.Errorf("%s has other tests or series than this run: run go test -run TestAlerts -update", name)
	}
}

// skeleton is a file of tests without the values of the series, which differ between runs.
func skeleton(text string) string {
	return regexp.MustCompile(`(?m)^(\s+values: ).*$`).ReplaceAllString(text, "$1")
}

// writeTest writes a failure as a test for promtool: its series, all alerts that fire at each of the
// times, and once for each alert what it says.
func writeTest(file *strings.Builder, f failure, series map[string]*recorded, rules []alert, used []string, proven map[string]bool) {
	fmt.Fprintf(file, "  - name: %s\n    interval: %v\n    input_series:\n", f.name, every)
	var keys []string
	for key, s := range series {
		if slices.Contains(used, s.labels["__name__"]) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		fmt.Fprintf(file, "      - series: '%s'\n        values: %s\n", key, series[key].notation())
	}
	var says strings.Builder
	fmt.Fprintf(file, "    promql_expr_test:\n")
	for _, at := range f.fires {
		fmt.Fprintf(file, "      - expr: ALERTS{alertstate=\"firing\"}\n        eval_time: %v\n", at.at)
		if len(at.alerts) == 0 {
			continue
		}
		fmt.Fprintf(file, "        exp_samples:\n")
		for _, name := range at.alerts {
			i := slices.IndexFunc(rules, func(a alert) bool { return a.name == name })
			if i < 0 {
				fmt.Fprintf(file, "          # no alert %s\n", name)
				continue
			}
			labels := map[string]string{"job": "app", "snowkey_namespace": "orders", "instance": "app-1:9090"}
			switch name {
			case "SnowkeyDuplicateWorkerID":
				delete(labels, "instance")
				labels["worker_id"] = "3"
			case "SnowkeyLeaseEnded":
				labels["snowkey_lease_state"] = "ended"
			}
			if !proven[name] {
				proven[name] = true
				writeAlert(&says, rules[i], at, labels)
			}
			labels["__name__"], labels["alertname"], labels["alertstate"], labels["severity"] = "ALERTS", name, "firing", rules[i].severity
			fmt.Fprintf(file, "          - labels: '%s'\n            value: 1\n", selector(labels))
		}
	}
	if says.Len() > 0 {
		fmt.Fprintf(file, "    alert_rule_test:\n%s", says.String())
	}
}

// writeAlert writes what an alert says.
func writeAlert(file *strings.Builder, a alert, at firing, labels map[string]string) {
	fmt.Fprintf(file, "      - alertname: %s\n        eval_time: %v\n        exp_alerts:\n          - exp_labels:\n              severity: %s\n", a.name, at.at, a.severity)
	summary := a.summary
	for _, name := range []string{"instance", "job", "snowkey_lease_state", "snowkey_namespace", "worker_id"} {
		if value, ok := labels[name]; ok {
			fmt.Fprintf(file, "              %s: %q\n", name, value)
			summary = strings.ReplaceAll(summary, "{{ $labels."+name+" }}", value)
		}
	}
	fmt.Fprintf(file, "            exp_annotations:\n              summary: %s\n              description: %s\n", summary, a.description)
}

// docs/metrics.md says what to do about each alert, and names no other.
func TestAlertsInTheDocuments(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "metrics.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| `(Snowkey\\w+)` \\| (\\w+) \\| .+ \\|$").FindAllStringSubmatch(string(text), -1) {
		rows[m[1]] = m[2]
	}
	list, _ := alerts(t)
	for _, a := range list {
		if rows[a.name] != a.severity {
			t.Errorf("docs/metrics.md has %s as %q, want %q", a.name, rows[a.name], a.severity)
		}
		delete(rows, a.name)
	}
	if len(rows) > 0 {
		t.Errorf("docs/metrics.md also has %v", rows)
	}
}

// The alerts of docs/metrics.md for processes without a lease fire for these alone.
func TestAlertsWithoutLease(t *testing.T) {
	promtool := testserver.Promtool(t)
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "metrics.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rules, _ := strings.Cut(string(page), "```yaml\n")
	rules, _, found := strings.Cut(rules, "```")
	if !found {
		t.Fatal("docs/metrics.md has no rules")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"rules.yml": "groups:\n- name: docs\n  rules:\n  " + strings.ReplaceAll(rules, "\n", "\n  "),
		"test.yml": `rule_files: [rules.yml]
evaluation_interval: 15s
tests:
  - interval: 15s
    input_series:
      - {series: 'up{job="orders", instance="a"}', values: '1x40'}
      - {series: 'up{job="orders", instance="b"}', values: '1x40'}
      - {series: 'up{job="other", instance="c"}', values: '1x40'}
      - {series: 'snowkey_worker_id{snowkey_namespace="orders", instance="a"}', values: '0x20 stale _x19'}
    alert_rule_test:
      - {eval_time: 4m, alertname: SnowkeyNoLease, exp_alerts: []}
      - {eval_time: 4m, alertname: SnowkeyProcessWithoutLease, exp_alerts: [{exp_labels: {job: orders, instance: b}}]}
      - {eval_time: 8m, alertname: SnowkeyNoLease, exp_alerts: [{exp_labels: {snowkey_namespace: orders}}]}
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.CommandContext(t.Context(), promtool, "test", "rules", filepath.Join(dir, "test.yml")).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
