//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package filestore_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/filestore"
)

// In its own process this is a program, not a test.
func TestStopIn(*testing.T) {
	if dir := os.Getenv("SNOWKEY_TEST_STOP"); dir != "" {
		filestore.StopIn(dir, os.Getenv("SNOWKEY_TEST_STOP_IN"))
	}
}

// child is a process that has claimed worker ID 0 and then been stopped.
type child struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func stopped(t *testing.T, dir, in string) *child {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), ample) // then it is killed, and says no more
	t.Cleanup(cancel)
	c := &child{cmd: exec.CommandContext(ctx, os.Args[0], "-test.run=^TestStopIn$")}
	c.cmd.Env = append(os.Environ(), "SNOWKEY_TEST_STOP="+dir, "SNOWKEY_TEST_STOP_IN="+in)
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.kill)
	c.out = bufio.NewReader(out)
	if line := c.line(); line != "stops" {
		t.Fatalf("%q", line)
	}
	return c
}

func (c *child) line() string {
	line, err := c.out.ReadString('\n')
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(line)
}

func (c *child) kill() {
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()
	_ = c.in.Close()
}

// goOn lets it end what it was doing. It may have said that it stops, and do so only now:
// so it is continued until it answers.
func (c *child) goOn(t *testing.T) {
	t.Helper()
	if _, err := fmt.Fprintln(c.in); err != nil {
		t.Fatal(err)
	}
	said := make(chan string, 1)
	go func() { said <- c.line() }()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if err := c.cmd.Process.Signal(syscall.SIGCONT); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Error(err)
		}
		select {
		case line := <-said: // or that it was killed, in the end
			if line != "child: <nil>" {
				t.Error(line)
			}
			c.kill()
			return
		case <-tick.C:
		}
	}
}

// A process that is stopped in the middle of anything holds up no renewal and no
// release of another worker ID, and claims only if it was claiming itself.
func TestAStoppedProcess(t *testing.T) {
	for _, in := range []string{"renewal", "claim", "end of claim", "operator"} {
		for _, end := range []string{"continues", "is killed"} {
			t.Run(in+", "+end, func(t *testing.T) {
				dir := t.TempDir()
				store := open(t, dir)
				hold := func(number int64, most time.Duration) (driver.Claim, error) {
					ctx, cancel := context.WithTimeout(t.Context(), most)
					defer cancel()
					return store.Claim(ctx, filestore.Asking(number, fmt.Sprint("t", number)))
				}
				// soon holds for a short time: for longer, if that was over before the
				// directory was looked at.
				soon := func(number int64) (c driver.Claim, err error) {
					for most := short; most < ample; most *= 2 {
						c, err = hold(number, most)
						if !errors.Is(err, context.DeadlineExceeded) || strings.Contains(err.Error(), " by another process") {
							break
						}
					}
					return c, err
				}
				one, err := hold(1, ample)
				if err != nil {
					t.Fatal(err)
				}
				two, err := hold(2, ample)
				if err != nil {
					t.Fatal(err)
				}
				c := stopped(t, dir, in)
				ctx, cancel := context.WithTimeout(t.Context(), ample)
				defer cancel()
				for i := range int64(50) {
					for _, h := range []driver.Claim{one, two} {
						if err := store.Renew(ctx, driver.Renewal{Namespace: "x", Worker: h.Worker, FencingToken: h.FencingToken, ClaimID: fmt.Sprint("t", h.Worker), Fence: h.Fence + i, TTL: 1000}); err != nil {
							t.Fatal(err)
						}
					}
				}
				if err := store.Release(ctx, driver.Return{Namespace: "x", Worker: 2, FencingToken: two.FencingToken, ClaimID: "t2", Fence: two.From + 5}); err != nil {
					t.Fatal(err)
				}
				claiming := strings.Contains(in, "claim")
				again, err := soon(2)
				if claiming && (!errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), filepath.Join(dir, "x", "lock")+" is locked by another process, which may be stopped")) {
					t.Errorf("a claim beside another: %+v, %v", again, err)
				}
				if !claiming && (err != nil || again.Worker != 2 || again.FencingToken != 2) {
					t.Errorf("%+v, %v", again, err)
				}
				zero, err := soon(0)
				switch {
				case in == "renewal" && !errors.Is(err, driver.ErrNoWorkerID),
					in == "operator" && (!errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "being changed by another process")):
					t.Errorf("the stopped one's number: %+v, %v", zero, err)
				}
				if end == "continues" {
					c.goOn(t)
				} else {
					c.kill()
				}
				rows, err := store.List(t.Context(), "x")
				if err != nil || len(rows) < 3 || rows[0].Worker != 0 || rows[0].FencingToken != 1 {
					t.Fatalf("%+v, %v", rows, err)
				}
				next, err := hold(0, ample)
				if err != nil || next.From < rows[0].Fence || next.FencingToken != 2 {
					t.Errorf("%+v after %+v, %v", next, rows[0], err)
				}
			})
		}
	}
}
