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

// startServe runs serve and returns its URL and its output up to that. Later output goes to env.Err.
func startServe(t *testing.T, env Env, args ...string) (url, said string, end func() int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	copied := io.Discard
	if env.Err != nil {
		copied = env.Err
	}
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
	go func() { _, _ = io.Copy(copied, lines) }()
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

// lockedBuffer is written while a test reads it.
type lockedBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
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

// An address in use is a failure, not a usage error.
func TestServeTaken(t *testing.T) {
	url, _, end := startServe(t, Env{}, "--addr", "127.0.0.1:0")
	defer end()
	if got := run(t, "serve", "--addr", strings.TrimPrefix(url, "http://")); got.code != 1 || !strings.Contains(got.err, "in use") {
		t.Errorf("exit code %d: %s", got.code, got.err)
	}
}

func TestLoopback(t *testing.T) {
	for host, want := range map[string]bool{"127.0.0.1": true, "127.1.2.3": true, "::1": true, "localhost": true, "": false, "0.0.0.0": false, "::": false, "10.0.0.1": false, "example.org": false} {
		if loopback(host) != want {
			t.Errorf("loopback(%q) = %v", host, !want)
		}
	}
}

// The flags reach the server: it logs the client that a proxy names, limits it, and generates
// nothing.
func TestServeFlags(t *testing.T) {
	logged := &lockedBuffer{}
	url, _, end := startServe(t, Env{Err: logged}, "--addr", "127.0.0.1:0", "--trusted-proxy", "127.0.0.1", "--trusted-proxy", "10.0.0.0/8", "--rate", "0.001",
		"--no-ids", "--access-log", "json")
	ask := func(client, path string) int {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Forwarded-For", client)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		return answer.StatusCode
	}
	for i, c := range []struct {
		client, path string
		want         int
	}{
		{"203.0.113.5", "/api/ids?worker=1", 403}, {"203.0.113.5", "/api/layouts", 429},
		{"203.0.113.6, 10.2.2.2", "/api/ids?worker=1&time=2026-01-01", 200}, {"203.0.113.6", "/api/layouts", 429}, {"203.0.113.5", "/healthz", 200},
	} {
		if got := ask(c.client, c.path); got != c.want {
			t.Errorf("%d: %d, want %d", i, got, c.want)
		}
	}
	if code := end(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	for deadline := time.Now().Add(time.Second); strings.Count(logged.String(), `"msg":"request"`) < 4 && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond) // until the last line is copied
	}
	if said := logged.String(); !strings.Contains(said, `"client":"203.0.113.6"`) || strings.Count(said, `"msg":"request"`) != 4 {
		t.Errorf("logged: %s", said)
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
