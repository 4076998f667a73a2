package cli

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/doctor"
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

// Worker IDs are leased below /leases, as the help says, and listed only with --admin. doctor and the
// commands use them with the token of the environment or of a file.
func TestServeLeases(t *testing.T) {
	const token = "a-token-of-16-or-more"
	env := Env{Getenv: environment("SNOWKEY_TOKEN", token)}
	file := filepath.Join(t.TempDir(), "token")
	must(t, os.WriteFile(file, []byte(token+"\n"), 0o600))
	for admin, code := range map[string]int{"--admin=false": 1, "--admin": 0} {
		url, _, end := startServe(t, env, "--addr", "127.0.0.1:0", admin, "--store", filepath.Join(t.TempDir(), "ids.db"))
		defer end()
		if got := run(t, "gen", "-n", "2", "--lease", url+"/leases", "--token-file", file); got.code != 0 || strings.Count(got.out, "\n") != 2 {
			t.Errorf("exit code %d: %s", got.code, got.err)
		}
		runWith(t, env, "workers", "list", "--dsn", url+"/leases").want(t, code, "", "")
		d := examine(t, env, "--dsn", url+"/leases")
		d.want(t, "clock", doctor.OK, "")
		d.want(t, "server", doctor.Skip, "")
		wrong := examine(t, env, "--dsn", url+"/nowhere")
		wrong.want(t, "worker IDs", doctor.Fail, "404")
		other := Env{Getenv: environment("SNOWKEY_TOKEN", "another-token-of-16")}
		if got := runWith(t, other, "workers", "list", "--dsn", url+"/leases"); got.code != 1 || !strings.Contains(got.err, "401") || strings.Contains(got.err, "another-token") {
			t.Errorf("exit code %d: %s", got.code, got.err)
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
		status, _ := get(t, url+path)
		return status
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
