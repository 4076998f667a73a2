package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A step is red if a test fails, panics, does not compile or is not there, and the output names it.
// A skipped test is named with its reason.
func TestWork(t *testing.T) {
	const head = "package m\n\nimport \"testing\"\n\n"
	const passes = "func TestWell(t *testing.T) { t.Log(\"not shown\") }\n"
	for name, c := range map[string]struct {
		code string
		red  bool
		last string
		says []string
	}{
		"pass":    {passes, false, "1 passed, 0 failed, 0 skipped", nil},
		"fail":    {passes + "func TestIll(t *testing.T) { t.Run(\"row\", func(t *testing.T) { t.Error(\"the reason\") }) }\n", true, "1 passed, 2 failed, 0 skipped", []string{"TestIll/row", "the reason"}},
		"skip":    {passes + "func TestLater(t *testing.T) { t.Skip(\"no \\\"spin\\\"\") }\n", false, "1 passed, 0 failed, 1 skipped", []string{"TestLater", `no "spin"`}},
		"panic":   {passes + "func TestBad(t *testing.T) { done := make(chan int); go func() { panic(\"the reason\") }(); <-done }\n", true, "1 passed, 1 failed, 0 skipped", []string{"TestBad", "the reason"}},
		"build":   {passes + "func TestBad(t *testing.T) { undefined() }\n", true, "0 passed, 1 failed, 0 skipped", []string{"undefined: undefined", "m_test.go:6"}},
		"no test": {"var _ testing.T\n", true, "0 passed, 1 failed, 0 skipped", []string{"no tests"}},
		"exit":    {"func TestMain(*testing.M) { panic(\"the reason\") }\n", true, "0 passed, 1 failed, 0 skipped", []string{"the reason"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for file, text := range map[string]string{"go.mod": "module m\n\ngo 1.25\n", "m_test.go": head + c.code} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			var out bytes.Buffer
			err := work(&out, [][]step{{{"m", "test", "cd '" + dir + "' && GOWORK=off go test -json ./..."}}}, nil)
			if (err != nil) != c.red || !strings.HasSuffix(out.String(), "\n"+c.last+"\n") {
				t.Errorf("error %v, want %v, %q; the output is\n%s", err, c.red, c.last, &out)
			}
			if c.red != strings.Contains(out.String(), "\nFailed: m: test\n") || strings.Contains(out.String(), "not shown") {
				t.Errorf("the output is\n%s", &out)
			}
			for _, part := range c.says {
				if !strings.Contains(out.String(), part) {
					t.Errorf("%q is not in\n%s", part, &out)
				}
			}
		})
	}
}

// A step without tests is red by its status, and shows its output only then.
func TestSteps(t *testing.T) {
	var out bytes.Buffer
	err := work(&out, [][]step{{{"a", "x", "echo quiet"}, {"a", "y", "echo loud; false"}}, {{"b", "x", "true"}}}, []step{{"b", "lint", "exit 3"}})
	if err == nil || err.Error() != "a: y, b: lint" || strings.Contains(out.String(), "quiet") || !strings.Contains(out.String(), "loud\n") {
		t.Errorf("%v\n%s", err, &out)
	}
}
