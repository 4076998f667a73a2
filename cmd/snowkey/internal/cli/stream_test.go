package cli

import (
	"bufio"
	"context"
	"io"
	"strings"
	"testing"
	"time"
)

// While the input pauses, the output has all lines that were complete by then.
func TestInputPauses(t *testing.T) {
	for _, args := range [][]string{{"parse", "--to", "decimal"}, {"serial", "encode"}} {
		in, stdin := io.Pipe()
		stdout, out := io.Pipe()
		done := make(chan int, 1)
		go func() {
			code := Run(t.Context(), args, Env{In: in, Out: out, Err: io.Discard, Getenv: environment("", "")})
			_ = out.Close()
			done <- code
		}()
		lines := make(chan string, 10)
		go func() {
			defer close(lines)
			for s := bufio.NewScanner(stdout); s.Scan(); {
				lines <- s.Text()
			}
		}()
		for _, step := range []struct {
			write string
			lines int
		}{{"1\n", 1}, {"2\n3\n", 2}, {"4", 0}, {"5\n6", 1}, {"7\n8\n", 2}} {
			_, _ = io.WriteString(stdin, step.write)
			for range step.lines {
				select {
				case <-lines:
				case <-time.After(endless):
					t.Fatalf("%q: nothing was printed after %q", args, step.write)
				}
			}
		}
		_ = stdin.Close()
		if _, more := <-lines; more {
			t.Errorf("%q: more lines than ids", args)
		}
		if code := <-done; code != 0 {
			t.Errorf("%q: exit code %d", args, code)
		}
	}
}

// endlessLines is a reader of one line, over and over.
type endlessLines struct{}

func (endlessLines) Read(p []byte) (int, error) {
	n := len(p) - len(p)%2
	copy(p, strings.Repeat("1\n", n/2))
	return n, nil
}

// An interrupt ends the command while it waits for input, and while there is always more.
func TestInterruptedInput(t *testing.T) {
	silent, _ := io.Pipe()
	for name, in := range map[string]io.Reader{"silent": silent, "endless": endlessLines{}} {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(50*time.Millisecond, cancel)
		got := runIn(ctx, Env{In: in}, "parse", "--to", "hex")
		if got.code != 1 || got.err != "snowkey parse: interrupted\n" {
			t.Errorf("%s: exit code %d: %s", name, got.code, got.err)
		}
	}
}
