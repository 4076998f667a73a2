package main

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Two at once have two worker IDs; afterwards both are free again.
func TestRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lease.sqlite")
	type result struct {
		out string
		err error
	}
	done := make(chan result, 2)
	var both sync.WaitGroup
	both.Add(2)
	for range 2 {
		go func() {
			out := &meeting{both: &both}
			err := run(context.Background(), out, file, 0)
			out.once.Do(both.Done) // also after a failure, so that the other continues
			done <- result{out.String(), err}
		}()
	}
	numbers := map[string]bool{}
	for range 2 {
		r := <-done
		if r.err != nil {
			t.Fatal(r.err)
		}
		number, _, _ := strings.Cut(r.out, " makes")
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

func TestBadPath(t *testing.T) {
	file := filepath.Join(t.TempDir(), "none", "x.sqlite")
	if err := run(t.Context(), io.Discard, file, 0); err == nil || err.Error() != "-db: open "+file+": no such file or directory" {
		t.Error(err)
	}
}

// meeting holds the output of one process back until the other has a worker ID, too.
type meeting struct {
	bytes.Buffer
	both *sync.WaitGroup
	once sync.Once
}

func (m *meeting) Write(p []byte) (int, error) {
	m.once.Do(m.both.Done)
	m.both.Wait()
	return m.Buffer.Write(p)
}
