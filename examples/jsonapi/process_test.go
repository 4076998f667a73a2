package main

import (
	"bufio"
	"bytes"
	"database/sql"
	"fmt"
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

	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
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

// After SIGTERM requests are finished, and the worker ID is free at once.
func TestGracefulEnd(t *testing.T) {
	t.Parallel()
	dsn := sqliteDSN(t)
	p := start(t, "-db", dsn)
	placed := p.send("POST", "/orders", tea).order(t, http.StatusCreated)

	// One request is half sent when the end comes.
	conn, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(enough))
	fmt.Fprintf(conn, "POST /orders HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n", len(tea))
	answers := bufio.NewReader(conn)
	if line, err := answers.ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") {
		t.Fatalf("%q, %v", line, err) // the handler is reading now
	}
	_, _ = answers.ReadString('\n')
	_, _ = io.WriteString(conn, tea[:20])
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	until(t, "the listener is closed", func() bool {
		other, err := net.Dial("tcp", conn.RemoteAddr().String())
		if err == nil {
			_ = other.Close()
		}
		return err != nil
	})
	_, _ = io.WriteString(conn, tea[20:])
	response, err := http.ReadResponse(answers, nil)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(response.Body)
	_ = response.Body.Close()
	last := answer{response.StatusCode, response.Header, string(text)}.order(t, http.StatusCreated)
	if code := p.end(t); code != 0 {
		t.Fatalf("exit %d", code)
	}

	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	store, err := sqlstore.New(db, sqlstore.Config{})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := store.List(t.Context(), "jsonapi")
	if err != nil || len(rows) != 1 || rows[0].ClaimID != "" {
		t.Errorf("%+v, %v: want one worker ID, free", rows, err)
	}

	next := start(t, "-db", dsn)
	if next.number != p.number {
		t.Errorf("the next has number %s, not %s again", next.number, p.number)
	}
	o := next.send("POST", "/orders", tea).order(t, http.StatusCreated)
	orders, _ := next.list("/orders")
	if len(orders) != 3 || orders[0].ID != o.ID || orders[1].ID != last.ID || orders[2].ID != placed.ID {
		t.Errorf("%+v", orders)
	}
}

// A killed process keeps its worker ID for its TTL: the next one takes another, and no id
// is issued twice.
func TestKilled(t *testing.T) {
	t.Parallel()
	onEvery(t, func(t *testing.T, dsn string) {
		seen := map[string]bool{}
		alive := map[string]time.Time{} // when the holder of a worker ID was last alive
		for round := range 3 {
			p := start(t, "-db", dsn)
			// It was renewed 10s before that, or later, for 40s.
			if at, ok := alive[p.number]; ok && time.Since(at) < 25*time.Second {
				t.Errorf("round %d: number %s again, while it is held", round, p.number)
			}
			for range 20 {
				o := p.send("POST", "/orders", tea).order(t, http.StatusCreated)
				for _, id := range []string{o.ID, o.Lines[0].ID, o.Lines[1].ID} {
					if seen[id] {
						t.Errorf("%s twice", id)
					}
					seen[id] = true
				}
			}
			alive[p.number] = time.Now()
			_ = p.cmd.Process.Kill()
			p.end(t)
		}
		p := start(t, "-db", dsn)
		orders, next := p.list("/orders?limit=100")
		if len(orders) != 60 || next != "" {
			t.Errorf("%d orders, want 60", len(orders))
		}
	})
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
