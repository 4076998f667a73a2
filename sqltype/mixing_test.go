package sqltype

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Keys that are mixed up do not compile. The comments in testdata/mixing are the compiler's errors
// as a user sees them. VALUE is for what versions of Go say differently: variable of int64 type.
func TestMixingDoesNotCompile(t *testing.T) {
	if testing.Short() {
		t.Skip("starts the compiler")
	}
	const file = "testdata/mixing/mixing.go"
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "go", "build", "-gcflags=-e", "./testdata/mixing").CombinedOutput()
	if err == nil {
		t.Fatal("it compiles")
	}
	reported := map[int]string{}
	for _, m := range regexp.MustCompile(`(?m)^`+file+`:(\d+):\d+: (.*)$`).FindAllStringSubmatch(string(out), -1) {
		line, err := strconv.Atoi(m[1])
		if err != nil || reported[line] != "" {
			t.Fatalf("%s: %v\n%s", m[0], err, out)
		}
		reported[line] = m[2]
	}
	wanted := 0
	for i, text := range strings.Split(string(source), "\n") {
		_, want, ok := strings.Cut(text, " // ")
		got := reported[i+1]
		if !ok {
			if got != "" {
				t.Errorf("line %d does not compile: %s", i+1, got)
			}
			continue
		}
		wanted++
		pattern := strings.ReplaceAll(regexp.QuoteMeta(want), "VALUE", `[a-z0-9 ]+`)
		if !regexp.MustCompile(pattern + "$").MatchString(got) {
			t.Errorf("line %d: got %q\nwant %s", i+1, got, want)
		}
	}
	if wanted < 10 || wanted != len(reported) {
		t.Errorf("%d errors wanted, %d reported:\n%s", wanted, len(reported), out)
	}
}
