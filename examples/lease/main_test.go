package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// Two at once have two worker IDs; afterwards both are free again.
func TestRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lease %.sqlite")
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
			err := run(context.Background(), out, options{file: file, only: -1})
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
	if err := run(t.Context(), &out, options{file: file, only: -1}); err != nil || strings.Count(out.String(), "is held by") != 1 {
		t.Errorf("%s, %v", out.String(), err)
	}
}

func TestBadPath(t *testing.T) {
	file := filepath.Join(t.TempDir(), "none", "x.sqlite")
	if err := run(t.Context(), io.Discard, options{file: file, only: -1}); err == nil || err.Error() != "-db: open "+file+": no such file or directory" {
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

const holder = "LEASE_TEST_HOLDER" // the file, in a process that is to be killed

func TestMain(m *testing.M) {
	if file := os.Getenv(holder); file != "" {
		if err := run(context.Background(), os.Stdout, options{file: file, only: 7, window: 3 * time.Second, length: time.Minute}); err != nil {
			fmt.Println(err)
		}
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// The worker ID of a process that was killed is taken over, from its fence on.
func TestTakeover(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lease.sqlite")
	first := exec.CommandContext(t.Context(), os.Args[0])
	first.Env = append(os.Environ(), holder+"="+file)
	out, err := first.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	before, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.HasPrefix(before, "worker ID 7 makes") {
		t.Fatalf("%q, %v", before, err)
	}
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = first.Wait() // killed
	var after bytes.Buffer
	if err := run(t.Context(), &after, options{file: file, only: 7, window: 3 * time.Second}); err != nil {
		t.Fatal(err)
	}
	last, next := ids(t, before), ids(t, after.String())
	if next[0] <= last[2] {
		t.Errorf("%d after %d", next, last)
	}
}

func ids(t *testing.T, line string) (three [3]int64) {
	t.Helper()
	var number int64
	if _, err := fmt.Sscanf(line, "worker ID %d makes [%d %d %d]", &number, &three[0], &three[1], &three[2]); err != nil || number != 7 {
		t.Fatalf("%q: %v", line, err)
	}
	return three
}

func TestBadNumber(t *testing.T) {
	for only, want := range map[int64]string{-2: "-only -2", 1024: "Preferred 1024"} {
		if err := run(t.Context(), new(bytes.Buffer), options{file: filepath.Join(t.TempDir(), "x.sqlite"), only: only}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v lacks %s", err, want)
		}
	}
}
