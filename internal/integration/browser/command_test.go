package browser

import (
	"bytes"
	"errors"
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

// scratch is the folder of the built commands and the browser's profile, which all tests of
// this binary share.
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

// built holds the commands that are built, by folder.
var built struct {
	sync.Mutex
	paths map[string]string
}

// build builds the command in a folder of the repository, such as "cmd/snowkey", once, and
// returns its path. It uses the go.mod of the command's module, as test.sh does, so most of
// it comes from the cache. It does without the race detector, which is slow, and which the
// module's own tests use.
func build(t testing.TB, folder string) string {
	t.Helper()
	built.Lock()
	defer built.Unlock()
	if path, ok := built.paths[folder]; ok {
		return path
	}
	testserver.Uncached()
	root, err := filepath.Abs(filepath.Join("..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	module, pkg := folder, "." // the nearest folder above that is a module
	for !exists(filepath.Join(root, module, "go.mod")) {
		module, pkg = filepath.Dir(module), "./"+filepath.Join(filepath.Base(module), pkg)
	}
	path := filepath.Join(scratch, strings.ReplaceAll(folder, "/", "-"))
	cmd := exec.Command(filepath.Join(root, "tools", "alone.sh"), module, "go", "build", "-o", path, pkg)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { // alone.sh may have set them for this module
		return strings.HasPrefix(v, "GOWORK=") || strings.HasPrefix(v, "GOFLAGS=")
	})
	cmd.Env = append(cmd.Env, "GOFLAGS=-buildvcs=false", "CGO_ENABLED=1") // as in test.sh
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build %s: %v\n%s", folder, err, out)
	}
	if built.paths == nil {
		built.paths = map[string]string{}
	}
	built.paths[folder] = path
	return path
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

var address = regexp.MustCompile(`https?://(127\.0\.0\.1|\[::1\]|localhost):[1-9][0-9]*`)

// start runs a command until the test ends, and returns the URL that it prints, without a
// slash at the end. The command must listen on port 0 of 127.0.0.1. After the test it is
// interrupted, and must end with status 0.
func start(t testing.TB, folder string, args ...string) (url string) {
	t.Helper()
	cmd := exec.Command(build(t, folder), args...)
	out := &output{found: make(chan string, 1)}
	cmd.Stdout, cmd.Stderr = out, out
	dieWithParent(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	var status error
	go func() { status = cmd.Wait(); close(ended) }()
	t.Cleanup(func() {
		if err := cmd.Process.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Error(err)
		}
		select {
		case <-ended:
		case <-time.After(limit):
			_ = cmd.Process.Kill()
			<-ended
			t.Errorf("%s did not end when it was interrupted", folder)
		}
		if status != nil || t.Failed() {
			t.Logf("%s %q ended: %v\n%s", folder, args, status, out)
		}
		if status != nil {
			t.Errorf("%s: %v", folder, status)
		}
	})
	select {
	case url = <-out.found:
	case <-ended:
		t.Fatalf("%s ended before it listened", folder)
	case <-time.After(limit):
		t.Fatalf("%s prints no URL on which it listens", folder)
	}
	return url
}

// output keeps the output of a command, and finds its URL in it.
type output struct {
	mu    sync.Mutex
	text  []byte
	done  bool
	found chan string
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.text) < 1<<20 {
		o.text = append(o.text, p...)
	}
	// Before the end of the line the port may be incomplete.
	if end := bytes.LastIndexByte(o.text, '\n'); !o.done && end >= 0 {
		if url := address.FindString(string(o.text[:end])); url != "" {
			o.done = true
			o.found <- url
		}
	}
	return len(p), nil
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return string(o.text)
}
