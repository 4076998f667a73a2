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

// Every state can be reached and ended, and no event has two outcomes.
func TestTransitions(t *testing.T) {
	reached := map[state]bool{acquiring: true}
	seen := map[string]bool{}
	for range ended {
		for _, tr := range transitions {
			reached[tr.to] = reached[tr.to] || reached[tr.from]
		}
	}
	for _, tr := range transitions {
		key := fmt.Sprint(tr.from, tr.on)
		if seen[key] {
			t.Errorf("two lines for %s", key)
		}
		seen[key] = true
	}
	for s := acquiring; s <= ended; s++ {
		if !reached[s] {
			t.Errorf("%s cannot be reached", s)
		}
		l := &lease{state: s}
		if ok := l.move(closed); s < releasing && (!ok || l.state != releasing) {
			t.Errorf("%s cannot be ended", s)
		}
	}
}
