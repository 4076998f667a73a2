package main

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Two at once have two numbers; afterwards both are free again.
func TestRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lease.sqlite")
	type result struct {
		out string
		err error
	}
	done := make(chan result)
	for range 2 {
		go func() {
			var out bytes.Buffer
			err := run(context.Background(), &out, file, 500*time.Millisecond)
			done <- result{out.String(), err}
		}()
	}
	numbers := map[string]bool{}
	for range 2 {
		r := <-done
		if r.err != nil {
			t.Fatal(r.err)
		}
		number, _, _ := strings.Cut(r.out, " gives")
		numbers[number] = true
		if !strings.Contains(r.out, number+" is held by") {
			t.Errorf("%s", r.out)
		}
	}
	if len(numbers) != 2 {
		t.Errorf("%v", numbers)
	}
	var out bytes.Buffer
	if err := run(t.Context(), &out, file, 0); err != nil || strings.Count(out.String(), "is held by") != 1 {
		t.Errorf("%s, %v", out.String(), err)
	}
}
