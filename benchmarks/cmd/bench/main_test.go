package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A run in two small rounds gives a text with both, the machine and the engines.
func TestRun(t *testing.T) {
	out := t.TempDir()
	defer func(saved []part) { s := suites["bench"]; s.parts = saved; suites["bench"] = s }(suites["bench"].parts)
	s := suites["bench"]
	s.parts = s.parts[1:3]
	suites["bench"] = s
	if err := run(t.Context(), config{suite: "bench", count: 2, scale: "small", out: out, module: filepath.Join("..", "..")}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(out, "bench.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"BenchmarkJSON/", "BenchmarkJSONv2/"} {
		if n := strings.Count(string(text), name+"op=marshal/lib=snowkey-"); n != 2 {
			t.Errorf("two rounds gave %d results of %s:\n%s", n, name, text)
		}
	}
	for _, want := range []string{"suite: bench, 2 rounds, scale small\n", "\nmachine-cores: ", "\npostgres: ", "\nmariadb: ", "\nsqlite: 3.", "\ncommit: "} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestFlags(t *testing.T) {
	for _, c := range []struct {
		cfg  config
		want string
	}{
		{config{suite: "bnech", scale: "full"}, `-suite "bnech": want bench, inserts, load or growth`},
		{config{suite: "bench", scale: "big"}, `-scale "big": want full or small`},
		{config{suite: "bench", scale: "full", count: -1}, "-count -1: want 1 or more, or 0 for 6"},
	} {
		t.Run(c.want, func(t *testing.T) {
			if err := run(t.Context(), c.cfg); err == nil || err.Error() != c.want {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}
