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
	*exec.Cmd
	number string
	out    io.Reader // what follows the first line
}

func start(t *testing.T, dsn string) *process {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-addr", "127.0.0.1:0", "-db", dsn)
	cmd.Env, cmd.Stderr = append(os.Environ(), "JSONAPI_TEST_COMMAND=1"), os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(stdout)
	line, err := lines.ReadString('\n')
	found := regexp.MustCompile(`^listening on (http://\S+), worker ID (\d+)\n`).FindStringSubmatch(line)
	if err != nil || found == nil {
		t.Fatalf("it said %q, %v", line, err)
	}
	return &process{&client{t: t, url: found[1]}, cmd, found[2], lines}
}

// terminate ends the process by SIGTERM.
func (p *process) terminate() {
	p.t.Helper()
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Error(err)
	}
	rest, _ := io.ReadAll(p.out)
	if err := p.Wait(); err != nil || string(rest) != "stopped\n" {
		p.t.Errorf("it ended with %q, %v", rest, err)
	}
}

// After SIGTERM the worker ID is free at once, and the next process takes it.
func TestGracefulEnd(t *testing.T) {
	t.Parallel()
	dsn := sqliteDSN(t)
	p := start(t, dsn)
	placed := p.send("POST", "/orders", tea).order(t, http.StatusCreated)
	p.terminate()
	next := start(t, dsn)
	if next.number != p.number {
		t.Errorf("the next has worker ID %s, not %s again", next.number, p.number)
	}
	o := next.send("POST", "/orders", tea).order(t, http.StatusCreated)
	if orders, _ := next.list("/orders"); len(orders) != 2 || orders[0].ID != o.ID || orders[1].ID != placed.ID {
		t.Errorf("%+v", orders)
	}
	next.terminate()
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
			err := run(t.Context(), c.addr, c.db, io.Discard)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}
