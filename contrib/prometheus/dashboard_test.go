package prometheus_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	snowprom "github.com/seed-299c1d6b/snowkey/contrib/prometheus"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// dashboard is what a Grafana dashboard must have.
type dashboard struct {
	Title, UID    string
	SchemaVersion int
	Templating    struct {
		List []struct{ Name, Type, Definition string }
	}
	Annotations struct {
		List []struct{ Expr string }
	}
	Panels []panel
}

type panel struct {
	ID                       int
	Type, Title, Description string
	GridPos                  struct{ H, W, X, Y int }
	FieldConfig              struct{ Defaults struct{ Unit string } }
	Datasource               *struct{ Type, UID string }
	Targets                  []struct{ RefID, Expr, LegendFormat string }
}

func readDashboard(t *testing.T) (d dashboard) {
	t.Helper()
	text, err := os.ReadFile("dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	if d.Title == "" || d.UID == "" || d.SchemaVersion < 36 || len(d.Panels) < 10 {
		t.Fatalf("%+v", d)
	}
	return d
}

// expressions are those of the panels and of the annotations, with values for Grafana's variables.
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
	if err != nil {
		t.Fatal(err)
	}
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

// Panels lie beside each other and have what Grafana needs, and the variables are declared.
func TestDashboardPanels(t *testing.T) {
	d := readDashboard(t)
	declared := map[string]bool{"__rate_interval": true}
	for _, v := range d.Templating.List {
		declared[v.Name] = true
	}
	ids, cells := map[int]bool{}, map[[2]int]string{}
	variable, label := regexp.MustCompile(`\$\{?(\w+)`), regexp.MustCompile(`\{\{(\w+)\}\}`)
	for _, p := range d.Panels {
		if ids[p.ID] || p.ID == 0 || p.Title == "" || p.GridPos.X+p.GridPos.W > 24 || p.GridPos.W == 0 || p.GridPos.H == 0 {
			t.Errorf("panel %+v", p)
		}
		ids[p.ID] = true
		for x := range p.GridPos.W {
			for y := range p.GridPos.H {
				cell := [2]int{p.GridPos.X + x, p.GridPos.Y + y}
				if cells[cell] != "" {
					t.Fatalf("%q lies on %q", p.Title, cells[cell])
				}
				cells[cell] = p.Title
			}
		}
		if p.Type == "row" {
			continue
		}
		if p.Description == "" || p.FieldConfig.Defaults.Unit == "" || p.Datasource == nil || p.Datasource.UID != "${datasource}" || len(p.Targets) == 0 {
			t.Errorf("panel %+v", p)
		}
		refs := map[string]bool{}
		for _, target := range p.Targets {
			if refs[target.RefID] || target.RefID == "" {
				t.Errorf("%s: refId %q", p.Title, target.RefID)
			}
			refs[target.RefID] = true
			for _, m := range variable.FindAllStringSubmatch(target.Expr, -1) {
				if !declared[m[1]] {
					t.Errorf("%s: $%s is not declared", p.Title, m[1])
				}
			}
			if by := regexp.MustCompile(`by \(([\w, ]+)\)`).FindStringSubmatch(target.Expr); by != nil {
				for _, m := range label.FindAllStringSubmatch(target.LegendFormat, -1) {
					if !slices.Contains(strings.Split(by[1], ", "), m[1]) {
						t.Errorf("%s: the legend %s has a label that the expression drops", p.Title, target.LegendFormat)
					}
				}
			}
		}
	}
}

// The dashboard shows every metric. It and the rules use no other names and no other labels.
// cmd/snowkey checks the names of snowkey serve.
func TestNames(t *testing.T) {
	all := exported(t)
	text := strings.Join(readDashboard(t).expressions(), "\n")
	rules, err := os.ReadFile("alerts.yml")
	if err != nil {
		t.Fatal(err)
	}
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
	if err := os.WriteFile(path, []byte(rules.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{path, "alerts.yml"} {
		if out, err := exec.CommandContext(t.Context(), promtool, "check", "rules", "--lint=all", "--lint-fatal", path).CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}
	broken := strings.Replace(rules.String(), "sum(", "sum((", 1)
	if err := os.WriteFile(path, []byte(broken), 0o600); err != nil {
		t.Fatal(err)
	}
	if exec.CommandContext(t.Context(), promtool, "check", "rules", path).Run() == nil {
		t.Error("promtool accepts a broken expression")
	}
}

// A Prometheus scrapes a collector and loads the rules, and each panel shows something of a failure
// that was recorded.
func TestPrometheus(t *testing.T) {
	i := slices.IndexFunc(failures(), func(f failure) bool { return f.name == "the worker ID is lost, and there is no other" })
	f := failures()[i]
	end := time.Now().Truncate(every).Add(-time.Minute)
	var text strings.Builder
	for _, s := range record(t, f) {
		for k, v := range s.values {
			if !math.IsNaN(v) {
				fmt.Fprintf(&text, "%s %s %d\n", selector(s.labels), number(v), end.Add(-f.length).Add(time.Duration(k)*every).Unix())
			}
		}
	}
	text.WriteString("# EOF\n")

	gen := leasedGenerator(t, "live")
	registry := prometheus.NewRegistry()
	registry.MustRegister(collector(t, snowprom.Config{Generator: gen}))
	target := httptest.NewServer(promhttp.HandlerFor(registry, promhttp.HandlerOpts{EnableOpenMetrics: true}))
	defer target.Close()
	rules, err := filepath.Abs("alerts.yml")
	if err != nil {
		t.Fatal(err)
	}
	server := testserver.NewPrometheus(t, fmt.Sprintf(`
global: {scrape_interval: 100ms, evaluation_interval: 100ms}
rule_files: [%q]
scrape_configs:
  - job_name: live
    static_configs: [{targets: [%q]}]
`, rules, strings.TrimPrefix(target.URL, "http://")), text.String())

	// What was scraped has the names, types and texts that the collector gives.
	var metadata map[string][]struct{ Type, Help string }
	for deadline := time.Now().Add(time.Minute); len(metadata) < len(exported(t)); {
		if time.Now().After(deadline) {
			t.Fatalf("only %d metrics were scraped", len(metadata))
		}
		api(t, server.DSN+"/api/v1/metadata", &metadata)
	}
	if m := metadata["snowkey_ids_issued"]; len(m) != 1 || m[0].Type != "counter" { // without _total, by OpenMetrics
		t.Errorf("snowkey_ids_issued is %+v", m)
	}
	var groups struct {
		Groups []struct {
			Rules []struct{ Name, Health, LastError string }
		}
	}
	want, _ := alerts(t)
	for deadline := time.Now().Add(time.Minute); ; {
		api(t, server.DSN+"/api/v1/rules", &groups)
		if len(groups.Groups) != 1 || len(groups.Groups[0].Rules) != len(want) {
			t.Fatalf("%+v", groups)
		}
		evaluated := 0
		for _, r := range groups.Groups[0].Rules {
			if r.Health == "ok" {
				evaluated++
			} else if r.Health != "unknown" || time.Now().After(deadline) {
				t.Fatalf("%+v", r)
			}
		}
		if evaluated == len(want) {
			break
		}
	}
	for _, expr := range readDashboard(t).expressions() {
		if strings.Contains(expr, "snowkey_serve_") || strings.Contains(expr, "ALERTS") {
			continue
		}
		var answer struct {
			Result []struct{ Values [][2]any }
		}
		api(t, server.DSN+"/api/v1/query_range?"+url.Values{
			"query": {expr}, "step": {"15"}, "start": {fmt.Sprint(end.Add(-f.length).Unix())}, "end": {fmt.Sprint(end.Unix())},
		}.Encode(), &answer)
		values := 0
		for _, series := range answer.Result {
			for _, v := range series.Values {
				if v[1] != "NaN" {
					values++
				}
			}
		}
		if values < 10 {
			t.Errorf("%s shows %d values", expr, values)
		}
	}
}

// api asks Prometheus and decodes the data of its answer.
func api(t *testing.T, target string, data any) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	envelope := struct{ Data any }{data}
	if err := json.Unmarshal(body, &envelope); err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %v: %s", target, answer.StatusCode, err, body)
	}
}
