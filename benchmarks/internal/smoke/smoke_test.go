package smoke

import "testing"

func TestSkipped(t *testing.T) {
	for text, want := range map[string]string{
		"BenchmarkA-2 1 1 ns/op\nPASS\n": "",
		"BenchmarkB\n    server.go:120: no private postgres: not found; install it\n--- SKIP: BenchmarkB\nPASS\n": "no private postgres: not found; install it",
		"BenchmarkB\n--- SKIP: BenchmarkB\nPASS\n":                                                                "it gave no reason",
	} {
		why, ok := skipped(text)
		if why != want || ok != (want != "") {
			t.Errorf("%q: %q, %v; want %q", text, why, ok, want)
		}
	}
}
