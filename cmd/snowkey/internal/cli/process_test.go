package cli

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// ledger detects duplicate ids.
type ledger map[int64]string

func (l ledger) add(t *testing.T, who, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		if !strings.HasSuffix(line, "\n") {
			continue // a killed process may leave an incomplete line
		}
		id, err := strconv.ParseInt(strings.TrimSuffix(line, "\n"), 10, 64)
		if err != nil {
			t.Fatalf("%s printed %q", who, line)
		}
		if before, ok := l[id]; ok {
			t.Fatalf("id %d was printed by %s and by %s", id, before, who)
		}
		l[id] = who
	}
}

// places are the DSNs of one store per kind.
func places(t *testing.T) map[string]string {
	t.Helper()
	dir := t.TempDir()
	return map[string]string{
		"PostgreSQL": testserver.Postgres(t).DSN,
		"MariaDB":    testserver.MariaDB(t).DSN,
		"Redis":      "redis://" + strings.TrimPrefix(testserver.Redis(t).DSN, "redis://"),
		"etcd":       "etcd://" + strings.TrimPrefix(testserver.Etcd(t).DSN, "http://"),
		"SQLite":     "file:" + filepath.Join(dir, "ids.db"),
	}
}

func list(t *testing.T, dsn, namespace string) []workerInfo {
	t.Helper()
	l := decoded[namespaceInfo](t, run(t, "workers", "list", "--json", "--dsn", dsn, "--namespace", namespace))
	if l.Namespace != namespace {
		t.Fatalf("%+v", l)
	}
	return l.Workers
}

func held(t *testing.T, dsn, namespace string) (found []workerInfo) {
	t.Helper()
	for _, w := range list(t, dsn, namespace) {
		if w.State == "held" {
			found = append(found, w)
		}
	}
	return found
}

// Two concurrent processes and a third one print no id twice, with any store. SIGINT and SIGTERM release
// the worker IDs, and cut off no line.
func TestTogether(t *testing.T) {
	for name, dsn := range places(t) {
		t.Run(name, func(t *testing.T) {
			const namespace = "together"
			both := []*endlessGen{startGen(t, dsn, namespace), startGen(t, dsn, namespace)}
			if h := held(t, dsn, namespace); len(h) != 2 {
				t.Errorf("two run, and held are %+v", h)
			}
			var reading sync.WaitGroup
			for _, g := range both { // both still run, so their ids have the same times
				reading.Go(func() {
					for range 100_000 {
						line, _ := g.out.ReadString('\n')
						g.read.WriteString(line)
					}
				})
			}
			reading.Wait()
			seen := ledger{}
			for i, g := range both {
				must(t, g.cmd.Process.Signal([]os.Signal{syscall.SIGINT, syscall.SIGTERM}[i]))
				if code := g.end(t); code != 1 || !strings.Contains(g.err.String(), "interrupted after ") || !strings.HasSuffix(g.read.String(), "\n") {
					t.Errorf("exit code %d: %s", code, g.err.String())
				}
				seen.add(t, fmt.Sprintf("process %d", i+1), g.read.String())
			}
			got := run(t, "gen", "-n", "20000", "--lease", dsn, "--namespace", namespace)
			got.want(t, 0, "", "")
			seen.add(t, "process 3", got.out)
			if len(seen) < 240_000 {
				t.Errorf("%d ids", len(seen))
			}
			if h := held(t, dsn, namespace); len(h) > 0 {
				t.Errorf("still held: %+v", h)
			}
		})
	}
}

// endlessGen is a process that generates ids until it is stopped. The first ones are read.
type endlessGen struct {
	cmd  *exec.Cmd
	out  *bufio.Reader
	pipe io.Closer
	err  bytes.Buffer
	read strings.Builder
}

func startGen(t *testing.T, dsn, namespace string) *endlessGen {
	t.Helper()
	g := &endlessGen{cmd: program(t, "gen", "-n", "1000000000000", "--lease", dsn, "--namespace", namespace)}
	pipe, err := g.cmd.StdoutPipe()
	must(t, err)
	g.pipe, g.out, g.cmd.Stderr = pipe, bufio.NewReader(pipe), &g.err
	must(t, g.cmd.Start())
	for range 10_000 {
		line, err := g.out.ReadString('\n')
		if err != nil {
			t.Fatalf("%v: %s", err, g.err.String())
		}
		g.read.WriteString(line)
	}
	return g
}

// end reads the rest and returns the exit code, or -1 after a signal.
func (g *endlessGen) end(t *testing.T) int {
	t.Helper()
	_, _ = io.Copy(&g.read, g.out)
	err := g.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return g.cmd.ProcessState.ExitCode()
}

// A killed process holds its worker ID until it is freed, and later processes print none
// of its ids.
func TestKilled(t *testing.T) {
	dsn, namespace := testserver.Postgres(t).DSN, "killed"
	g := startGen(t, dsn, namespace)
	must(t, g.cmd.Process.Kill())
	if code := g.end(t); code != -1 {
		t.Errorf("exit code %d", code)
	}
	seen := ledger{}
	seen.add(t, "the killed", g.read.String())
	gen := func(who string) {
		t.Helper()
		got := run(t, "gen", "-n", "10000", "--lease", dsn, "--namespace", namespace)
		got.want(t, 0, "", "")
		seen.add(t, who, got.out)
	}
	gen("the next")
	h := held(t, dsn, namespace)
	if len(h) != 1 {
		t.Fatalf("held: %+v", h)
	}
	id, token := strconv.FormatInt(h[0].WorkerID, 10), strconv.FormatInt(h[0].FencingToken, 10)
	free := func(code int, says string, args ...string) {
		t.Helper()
		run(t, append([]string{"workers", "free", "--dsn", dsn, "--namespace", namespace}, args...)...).says(t, code, says)
	}
	free(1, "has fencing token "+token, id, "--fencing-token", "999")
	free(1, "was never leased", "77", "--fencing-token", token)
	if len(held(t, dsn, namespace)) != 1 {
		t.Error("it was freed all the same")
	}
	free(0, "is freed; it can be claimed after", id, "--fencing-token", token)
	free(1, "is already freed", id, "--fencing-token", token)
	if len(held(t, dsn, namespace)) != 0 {
		t.Error("it is still held")
	}
	for range 3 {
		gen("one after it was freed")
	}
}

// A closed pipe is not a failure, and the worker ID is released.
func TestBrokenPipe(t *testing.T) {
	dsn := "file:" + filepath.Join(t.TempDir(), "ids.db")
	g := startGen(t, dsn, "pipe")
	must(t, g.pipe.Close())
	if err := g.cmd.Wait(); err != nil || g.err.Len() > 0 {
		t.Errorf("%v: %s", err, g.err.String())
	}
	if h := held(t, dsn, "pipe"); len(h) > 0 {
		t.Errorf("still held: %+v", h)
	}
}

// Other failures set the exit code, even after the pipe is closed.
func TestBrokenPipeAfterFailure(t *testing.T) {
	for code, args := range map[int][]string{1: {"parse", "1", "x"}, 3: {"doctor", "--dsn", filepath.Join(t.TempDir(), "none.db")}} {
		r, w, err := os.Pipe()
		must(t, err)
		_ = r.Close()
		cmd := program(t, args...)
		cmd.Stdout = w
		if err := cmd.Run(); cmd.ProcessState.ExitCode() != code {
			t.Errorf("%q: %v, want exit code %d", args, err, code)
		}
		_ = w.Close()
	}
}

// A worker ID that cannot be released is a failure, also after the pipe is closed. The ids
// are printed.
func TestNotReleased(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ids.db")
	run(t, "gen", "--lease", file).want(t, 0, "", "") // creates the tables
	execute(t, openDB(t, "sqlite", file), "CREATE TRIGGER refuse BEFORE UPDATE ON snow_lease WHEN NEW.state = 'released' BEGIN SELECT RAISE(ABORT, 'refused'); END")
	got := run(t, "gen", "-n", "3", "--lease", file)
	if got.code != 1 || strings.Count(got.out, "\n") != 3 || !strings.Contains(got.err, "was not released and will expire: ") || !strings.Contains(got.err, "refused") {
		t.Errorf("exit code %d: %s%s", got.code, got.out, got.err)
	}
	g := startGen(t, "file:"+file, "default")
	must(t, g.pipe.Close())
	if code := g.end(t); code != 1 || !strings.Contains(g.err.String(), "was not released") {
		t.Errorf("exit code %d: %s", code, g.err.String())
	}
	if h := held(t, file, "default"); len(h) != 2 {
		t.Errorf("held: %+v", h)
	}
}

// A full disk is a failure.
func TestFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(": no /dev/full: " + err.Error())
	}
	defer full.Close()
	for _, args := range [][]string{{"gen", "-n", "100000", "--worker", "3"}, {"gen", "--worker", "3"}, {"layout"}, {"parse", "1"}, {"--help"}, {"gen", "--help"}, {"--version"}} {
		cmd := program(t, args...)
		var said bytes.Buffer
		cmd.Stdout, cmd.Stderr = full, &said
		if err := cmd.Run(); cmd.ProcessState.ExitCode() != 1 || !strings.Contains(said.String(), "no space left") {
			t.Errorf("%q: %v: %s", args, err, said.String())
		}
	}
}
