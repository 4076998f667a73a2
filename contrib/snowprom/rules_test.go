package snowprom_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

var alertText = regexp.MustCompile(`(?ms)^      - alert: (\w+)\n(.*?)(?:\n\n|\z)`)

// alert is a rule of alerts.yml.
type alert struct{ name, severity string }

func alerts(t *testing.T) (list []alert) {
	t.Helper()
	text, err := os.ReadFile("alerts.yml")
	must(t, err)
	for _, m := range alertText.FindAllStringSubmatch(string(text), -1) {
		severity := regexp.MustCompile(`(?m)^ +severity: (.+)$`).FindStringSubmatch(m[2])
		list = append(list, alert{m[1], severity[1]})
	}
	if n := strings.Count(string(text), "- alert:"); n != len(list) || n < 10 {
		t.Fatalf("%d of %d alerts were read", len(list), n)
	}
	return list
}

// promtool tests the rules on the series of alerts_test.yml, which leases and generators left in
// failures. The file has a test in which each alert fires.
func TestAlerts(t *testing.T) {
	promtool := testserver.Promtool(t)
	t.Parallel()
	if out, err := exec.CommandContext(t.Context(), promtool, "test", "rules", "alerts_test.yml").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	text, err := os.ReadFile("alerts_test.yml")
	must(t, err)
	for _, a := range alerts(t) {
		if !strings.Contains(string(text), "- alertname: "+a.name+"\n") {
			t.Errorf("no test in which %s fires", a.name)
		}
	}
}

// docs/metrics.md says what to do about each alert, and names no other.
func TestAlertsInTheDocuments(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "metrics.md"))
	must(t, err)
	rows := map[string]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| `(Snowkey\\w+)` \\| (\\w+) \\| .+ \\|$").FindAllStringSubmatch(string(text), -1) {
		rows[m[1]] = m[2]
	}
	for _, a := range alerts(t) {
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
	must(t, err)
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
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	if out, err := exec.CommandContext(t.Context(), promtool, "test", "rules", filepath.Join(dir, "test.yml")).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
