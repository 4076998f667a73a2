package worker_test

import (
	"os"
	"regexp"
	"testing"
)

// checkChanges compares the changes of a lease's state with the transitions in the model of liveness.
func checkChanges(t *testing.T, changes map[string]int) {
	t.Helper()
	text, err := os.ReadFile("model/liveness.pml")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, m := range regexp.MustCompile(`:: state == (\w+) && event == \w+ -> state = (\w+)\n`).FindAllStringSubmatch(string(text), -1) {
		known[m[1]+" "+m[2]] = true
		if changes[m[1]+" "+m[2]] == 0 {
			t.Errorf("no lease went from %s to %s, as in model/liveness.pml", m[1], m[2])
		}
	}
	for change, n := range changes {
		if !known[change] {
			t.Errorf("%d times a lease went from %s, which model/liveness.pml does not allow", n, change)
		}
	}
}
