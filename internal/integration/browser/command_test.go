package browser

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// scratch is the folder of the built commands and the browser's profile.
var scratch string

func TestMain(m *testing.M) {
	var err error
	if scratch, err = os.MkdirTemp("", "snowkey-browser-"); err != nil {
		panic(err)
	}
	code := m.Run()
	closeBrowser()
	for range 50 { // the browser's last helpers may still write
		if os.RemoveAll(scratch) == nil {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	os.Exit(code)
}

// root is the folder of the repository.
var root = filepath.Join("..", "..", "..")

// commands are the ones that the tests start, by the folder of their module.
var commands = map[string]struct{ module, pkg string }{
	"cmd/snowkey":      {"cmd/snowkey", "."},
	"examples/jsonapi": {"examples", "./jsonapi"},
}

var building sync.Mutex

// build builds a command once, with the go.mod of its own module, and returns its path. It does
// without the race detector, which is slow, and which the module's own tests use.
func build(t testing.TB, name string) string {
	t.Helper()
	building.Lock()
	defer building.Unlock()
	path, err := filepath.Abs(filepath.Join(scratch, strings.ReplaceAll(name, "/", "-")))
	check(t, err)
	if _, err := os.Stat(path); err == nil {
		return path
	}
	testserver.Uncached()
	c := commands[name]
	cmd := exec.Command(filepath.Join("tools", "alone.sh"), c.module, "go", "build", "-o", path, c.pkg)
	cmd.Dir = root
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { // alone.sh may have set them for this module
		return strings.HasPrefix(v, "GOWORK=") || strings.HasPrefix(v, "GOFLAGS=")
	})
	cmd.Env = append(cmd.Env, "GOFLAGS=-buildvcs=false", "CGO_ENABLED=1") // as in test.sh
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build %s: %v\n%s", name, err, out)
	}
	return path
}

var address = regexp.MustCompile(`https?://(127\.0\.0\.1|\[::1\]|localhost):[1-9][0-9]*`)

// start runs a command until the test ends, and returns the URL that it prints, without a slash at
// the end. The command must listen on port 0 of 127.0.0.1. After the test it is interrupted, and
// must end with status 0.
func start(t testing.TB, name string, args ...string) (url string) {
	t.Helper()
	cmd := exec.Command(build(t, name), args...)
	read, write, err := os.Pipe() // of the command, which ends it
	check(t, err)
	cmd.Stdout, cmd.Stderr = write, write
	cmd.SysProcAttr = dieWithParent
	err = cmd.Start()
	_ = write.Close()
	check(t, err)
	found, ended := make(chan string, 1), make(chan error, 1)
	var text strings.Builder
	go func() {
		lines := bufio.NewScanner(io.TeeReader(read, &text))
		for once := false; lines.Scan(); {
			if url := address.FindString(lines.Text()); url != "" && !once {
				once = true
				found <- url
			}
		}
		_, _ = io.Copy(io.Discard, read) // after a line that is too long
		_ = read.Close()
		ended <- cmd.Wait()
	}()
	t.Cleanup(func() {
		if err := cmd.Process.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Error(err)
		}
		slow := time.AfterFunc(limit, func() { _ = cmd.Process.Kill() })
		if err := <-ended; err != nil {
			t.Errorf("%s %q: %v", name, args, err)
		}
		slow.Stop()
		if t.Failed() {
			t.Logf("%s %q:\n%s", name, args, text.String())
		}
	})
	select {
	case url = <-found:
	case err := <-ended:
		ended <- err
		t.Fatalf("%s ended before it listened", name)
	case <-time.After(limit):
		t.Fatalf("%s prints no URL on which it listens", name)
	}
	return url
}
