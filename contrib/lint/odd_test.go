package lint_test

import "testing"

// No rule reports or stumbles over code that is correct and unusual. The rules run at the same
// time and ask for the same ids of another package, so the race detector sees what they share.
func TestOdd(t *testing.T) {
	for _, d := range analyze(t, load(t, testdata(t), "./src/odd/...")) {
		t.Errorf("%s: %s", d.at, d.Message)
	}
}
