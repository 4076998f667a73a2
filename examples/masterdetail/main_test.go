package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	got := out.String()
	first, rest, _ := strings.Cut(got, "\nA third")
	want := []string{"`customers`", "`orders`", "`lines`", "`tags`", "`order_tags`"}
	lines := strings.Split(strings.TrimSpace(first), "\n")[1:]
	if len(lines) != len(want) {
		t.Fatalf("sent\n%s", first)
	}
	for i := range want {
		if !strings.Contains(lines[i], want[i]) {
			t.Errorf("statement %d is %s, want %s", i, lines[i], want[i])
		}
	}
	for _, want := range []string{"the tag has the key of the row: true", "CHECK constraint failed", "rows left: 0, keys left: 0 and 0"} {
		if !strings.Contains(rest, want) {
			t.Errorf("the output lacks %q:\n%s", want, got)
		}
	}
}
