package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestParts(t *testing.T) {
	good := config{suite: "bench", scale: "small", only: "encoding, generate"}
	parts, err := good.parts()
	if err != nil || len(parts) != 2 || parts[0].name != "encoding" || good.count != 6 {
		t.Errorf("%+v, %v, count %d", parts, err, good.count)
	}
	all := config{suite: "growth", scale: "full"}
	if parts, err := all.parts(); err != nil || len(parts) != 1 || all.count != 1 {
		t.Errorf("%+v, %v, count %d", parts, err, all.count)
	}
	for _, bad := range []struct {
		cfg  config
		want []string
	}{
		{config{suite: "bnech", scale: "full"}, []string{`-suite "bnech"`, "bench or growth"}},
		{config{suite: "bench", scale: "big", count: -1, only: "x,encoding,y"}, []string{`-scale "big"`, "-count -1", `no part "x"`, `no part "y"`}},
	} {
		_, err := bad.cfg.parts()
		if err == nil {
			t.Errorf("%+v was taken", bad.cfg)
			continue
		}
		for _, want := range bad.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%v has no %q", err, want)
			}
		}
	}
}

// Every folder that a part names has the benchmarks it names.
func TestFolders(t *testing.T) {
	for _, s := range suites() {
		for _, p := range s.parts {
			files, err := filepath.Glob(filepath.Join("..", "..", p.folder, "*_test.go"))
			if err != nil || len(files) == 0 {
				t.Errorf("part %s: no tests in %s, %v", p.name, p.folder, err)
			}
		}
	}
}

// One part in two small rounds gives a text with both, a report with the
// machine, and the same report again when it is made anew.
func TestRun(t *testing.T) {
	out := t.TempDir()
	var log bytes.Buffer
	cfg := config{suite: "bench", count: 2, scale: "small", only: "encoding,jsonv2", out: out, module: filepath.Join("..", ".."), log: &log}
	if err := run(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	text := read(t, filepath.Join(out, "bench.txt"))
	for _, name := range []string{"BenchmarkJSON/", "BenchmarkJSONv2/"} {
		if n := strings.Count(text, name+"op=marshal/lib=snowkey-"); n != 2 {
			t.Errorf("two rounds gave %d results of %s:\n%s", n, name, text)
		}
	}
	page := read(t, filepath.Join(out, "bench.md"))
	for _, want := range []string{"| suite | bench, 2 rounds, scale small |", "| machine-cores |", "| postgres | ", "| mariadb | ", "| sqlite | 3.", "bwmarrin/snowflake v", "## JSON of 1,000 rows", "![json](json.svg)"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
	cfg.report = true
	if err := run(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	if again := read(t, filepath.Join(out, "bench.md")); again != page {
		t.Error("the report made anew is another")
	}
	if log.Len() == 0 {
		t.Error("nothing was said about the progress")
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
