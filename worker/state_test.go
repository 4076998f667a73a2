package worker

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// The model of liveness has the same table.
func TestTransitionsInTheModel(t *testing.T) {
	text, err := os.ReadFile("model/live.pml")
	if err != nil {
		t.Fatal(err)
	}
	lines := regexp.MustCompile(`:: state == (\w+) && event == (\w+) -> state = (\w+)\n`).FindAllStringSubmatch(string(text), -1)
	if len(lines) != len(transitions) {
		t.Fatalf("model/live.pml has %d transitions, want %d", len(lines), len(transitions))
	}
	for i, tr := range transitions {
		want := fmt.Sprint(tr.from, " ", strings.ReplaceAll(tr.on.String(), " ", ""), " ", tr.to)
		if got := strings.Join(lines[i][1:], " "); !strings.EqualFold(got, want) {
			t.Errorf("transition %d of model/live.pml is %q, want %q", i+1, got, want)
		}
	}
}
