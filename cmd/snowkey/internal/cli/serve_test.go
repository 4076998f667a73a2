package cli

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// startServe runs serve and returns its URL and its output up to that.
func startServe(t *testing.T, env Env, args ...string) (url, said string, end func() int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	env.In, env.Out, env.Err = strings.NewReader(""), io.Discard, w
	if env.Getenv == nil {
		env.Getenv = func(string) string { return "" }
	}
	ended := make(chan int, 1)
	go func() {
		code := Run(ctx, append([]string{"serve"}, args...), env)
		_ = w.Close()
		ended <- code
	}()
	lines := bufio.NewReader(r)
	for url == "" {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("it ended: exit code %d: %s", <-ended, said)
		}
		said += line
		if _, after, ok := strings.Cut(line, "serving "); ok {
			url = strings.TrimSpace(after)
		}
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	return url, said, sync.OnceValue(func() int {
		cancel()
		select {
		case code := <-ended:
			return code
		case <-time.After(endless):
			t.Error("it does not end")
			return -1
		}
	})
}

func TestServe(t *testing.T) {
	url, said, end := startServe(t, Env{}, "--addr", "127.0.0.1:0")
	defer end()
	if strings.Contains(said, "not encrypted") {
		t.Errorf("it warns of an address of this machine: %s", said)
	}
	answer, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if code := end(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if answer, err := http.Get(url); err == nil {
		_ = answer.Body.Close()
		t.Error("it still serves")
	}
}

// Worker IDs are leased below /leases, as the help says, and listed only with --admin.
func TestServeLeases(t *testing.T) {
	env := Env{Getenv: environment("SNOWKEY_TOKEN", "a-token-of-16-or-more")}
	for admin, code := range map[string]int{"--admin=false": 1, "--admin": 0} {
		url, _, end := startServe(t, env, "--addr", "127.0.0.1:0", admin, "--store", filepath.Join(t.TempDir(), "ids.db"))
		defer end()
		if got := runWith(t, env, "gen", "-n", "2", "--lease", url+"/leases"); got.code != 0 || strings.Count(got.out, "\n") != 2 {
			t.Errorf("exit code %d: %s", got.code, got.err)
		}
		if got := runWith(t, env, "workers", "list", "--dsn", url+"/leases"); got.code != code {
			t.Errorf("%s: workers list: exit code %d: %s", admin, got.code, got.err)
		}
	}
}

func TestServeWarns(t *testing.T) {
	_, said, end := startServe(t, Env{Getenv: environment("SNOWKEY_TOKEN", "a-token-of-16-or-more")}, "--addr", ":0", "--store", filepath.Join(t.TempDir(), "ids.db"))
	if !strings.Contains(said, "not encrypted") || strings.Contains(said, "a-token") {
		t.Errorf("it says %q", said)
	}
	if code := end(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// While it drains, the server answers as before, but is not ready.
func TestServeDrains(t *testing.T) {
	url, _, end := startServe(t, Env{}, "--addr", "127.0.0.1:0", "--drain", "600ms")
	status := func(path string) int {
		answer, err := http.Get(url + path)
		if err != nil {
			return 0
		}
		_ = answer.Body.Close()
		return answer.StatusCode
	}
	if got := status("/readyz"); got != http.StatusOK {
		t.Errorf("at first: %d", got)
	}
	ended := make(chan int)
	go func() { ended <- end() }()
	unready, served := false, false
	for {
		select {
		case code := <-ended:
			if code != 0 || !unready || !served {
				t.Errorf("exit code %d, unready %v, served %v", code, unready, served)
			}
			return
		default:
			ready := status("/readyz")
			if ready == http.StatusServiceUnavailable {
				unready = true
				served = served || status("/api/layouts") == http.StatusOK
			}
		}
	}
}
