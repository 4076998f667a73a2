package main

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain runs the command itself where a test asks for a process of it.
func TestMain(m *testing.M) {
	patience = enough
	if os.Getenv("JSONAPI_TEST_COMMAND") != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// enough is far longer than anything here takes on a busy machine.
const enough = 3 * time.Minute

// until waits for something, but not for ever.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(enough); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("after %v still not so: %s", enough, what)
		}
	}
}

// process is a real one of the command.
type process struct {
	*client
	cmd    *exec.Cmd
	number string
	stderr bytes.Buffer // read it after the end
	out    io.Reader    // what follows the first line
}

// start starts the command and waits until it listens. It is killed at the end
// of the test, if it still runs.
func start(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(os.Args[0], append([]string{"-addr", "127.0.0.1:0", "-allow-data-loss"}, args...)...)}
	p.cmd.Env = append(os.Environ(), "JSONAPI_TEST_COMMAND=1")
	p.cmd.Stderr = &p.stderr
	stdout, err := p.cmd.StdoutPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if p.cmd.ProcessState == nil {
			_ = p.cmd.Process.Kill()
			_ = p.cmd.Wait()
		}
		if t.Failed() {
			t.Logf("worker number %s said: %s", p.number, p.stderr.String())
		}
	})
	lines := bufio.NewReader(stdout)
	line, err := lines.ReadString('\n')
	found := regexp.MustCompile(`^listening on (http://\S+), worker ID (\d+)\n`).FindStringSubmatch(line)
	if err != nil || found == nil {
		t.Fatalf("it said %q, %v", line, err)
	}
	p.client, p.number, p.out = &client{t: t, url: found[1]}, found[2], lines
	return p
}

// end waits for the process and gives its exit status, -1 for a signal.
func (p *process) end(t *testing.T) int {
	t.Helper()
	rest, err := io.ReadAll(p.out)
	if err != nil {
		t.Error(err)
	}
	_ = p.cmd.Wait()
	if code := p.cmd.ProcessState.ExitCode(); code != 0 || string(rest) == "stopped\n" {
		return code
	}
	t.Errorf("it ended with %q", rest)
	return 0
}

// After SIGTERM the worker ID is free at once, and the next process takes it.
func TestGracefulEnd(t *testing.T) {
	t.Parallel()
	dsn := sqliteDSN(t)
	p := start(t, "-db", dsn)
	placed := p.send("POST", "/orders", tea).order(t, http.StatusCreated)
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := p.end(t); code != 0 {
		t.Fatalf("exit %d", code)
	}
	next := start(t, "-db", dsn)
	if next.number != p.number {
		t.Errorf("the next has worker ID %s, not %s again", next.number, p.number)
	}
	o := next.send("POST", "/orders", tea).order(t, http.StatusCreated)
	if orders, _ := next.list("/orders"); len(orders) != 2 || orders[0].ID != o.ID || orders[1].ID != placed.ID {
		t.Errorf("%+v", orders)
	}
}

func TestBadArguments(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	text := filepath.Join(t.TempDir(), "text.sqlite")
	if err := os.WriteFile(text, bytes.Repeat([]byte("this is no database\n"), 500), 0o600); err != nil {
		t.Fatal(err)
	}
	file := sqliteDSN(t)
	for _, c := range []struct{ addr, db, want string }{
		{"", "/no/such/folder/x.sqlite", "-db: open /no/such/folder/x.sqlite: no such file or directory"},
		{"", text, "-db: file is not a database"},
		{"", "postgres://u:secret@127.0.0.1:1/x", "refused"},
		{"", "postgres://127.0.0.1:port/x?password=secret", "-db: "},
		{"nowhere", file, `-addr "nowhere"`},
		{taken.Addr().String(), file, "in use"},
	} {
		t.Run(c.addr+c.db, func(t *testing.T) {
			err := run(t.Context(), c.addr, config{db: c.db}, io.Discard)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}
