package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/httpstore"
)

// server is a process of snowkey serve.
type server struct {
	cmd     *exec.Cmd
	address string
}

func startServer(t *testing.T, args ...string) *server {
	t.Helper()
	s := &server{cmd: program(t, append([]string{"serve"}, args...)...)}
	pipe, err := s.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(pipe)
	var said strings.Builder
	for s.address == "" {
		line, err := lines.ReadString('\n')
		said.WriteString(line)
		if err != nil {
			t.Fatalf("%v: %s", err, said.String())
		}
		if _, after, ok := strings.Cut(line, "serving http://"); ok {
			s.address = strings.TrimSpace(after)
		}
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	return s
}

// both sends each request to the server that answered last, and to the other one if that fails.
type both struct {
	addresses [2]string
	last      atomic.Int64
}

func (b *both) RoundTrip(r *http.Request) (answer *http.Response, err error) {
	first := b.last.Load()
	for _, i := range []int64{first, 1 - first} {
		again := r.Clone(r.Context())
		again.URL.Host = b.addresses[i]
		if r.GetBody != nil {
			if again.Body, err = r.GetBody(); err != nil {
				return nil, err
			}
		}
		if answer, err = http.DefaultTransport.RoundTrip(again); err == nil {
			b.last.Store(i)
			return answer, nil
		}
	}
	return nil, err
}

// Two servers offer one store. Under load one is killed and started again, and then the other one
// shuts down: clients that know both addresses get worker IDs, IDs and answers all the time, and
// no ID twice.
func TestTwoServers(t *testing.T) {
	const token = "a-token-of-16-or-more"
	dir := t.TempDir()
	file := filepath.Join(dir, "token")
	if err := os.WriteFile(file, []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"--store", filepath.Join(dir, "ids.db"), "--token-file", file, "--admin", "--rate", "0", "--addr"}
	one, two := startServer(t, append(args, "127.0.0.1:0")...), startServer(t, append(args, "127.0.0.1:0")...)
	client := &http.Client{Transport: &both{addresses: [2]string{one.address, two.address}}}
	store, err := httpstore.New(httpstore.Config{URL: "http://both.localhost/leases", Token: token, Client: client})
	if err != nil {
		t.Fatal(err)
	}

	var mu sync.Mutex
	seen := map[int64]bool{}
	keep := func(ids []int64) {
		mu.Lock()
		defer mu.Unlock()
		for _, id := range ids {
			if seen[id] {
				t.Errorf("%d comes twice", id)
			}
			seen[id] = true
		}
	}
	over, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	load := func(rounds *atomic.Int64, round func() error) {
		wg.Go(func() {
			for over.Err() == nil {
				if err := round(); err != nil {
					t.Error(err)
					return
				}
				rounds.Add(1)
			}
		})
	}
	patient := worker.Config{FenceWindow: time.Minute, RenewInterval: 20 * time.Millisecond, Timeout: 10 * time.Second, ClaimWait: endless}
	fill := func(gen *worker.Generator, n int) error {
		ids := make([]int64, n)
		if err := gen.Fill(t.Context(), ids); err != nil {
			return err
		}
		keep(ids)
		return nil
	}
	var made, leased, parsed atomic.Int64
	for range 3 {
		gen, err := worker.Open(t.Context(), store, patient)
		if err != nil {
			t.Fatal(err)
		}
		defer gen.Close(context.Background())
		load(&made, func() error { time.Sleep(time.Millisecond); return fill(gen, 10) })
		load(&leased, func() error {
			gen, err := worker.Open(t.Context(), store, patient)
			if err != nil {
				return err
			}
			defer gen.Close(context.Background())
			return fill(gen, 10)
		})
		load(&parsed, func() error {
			answer, err := client.Get("http://both.localhost/api/parse?id=1")
			if err != nil {
				return err
			}
			defer answer.Body.Close()
			if _, err := io.Copy(io.Discard, answer.Body); err != nil || answer.StatusCode != http.StatusOK {
				return fmt.Errorf("%s: %w", answer.Status, err)
			}
			return nil
		})
	}
	// progress waits until each kind of load has had some rounds more.
	progress := func() {
		t.Helper()
		for _, rounds := range []*atomic.Int64{&made, &leased, &parsed} {
			for until, deadline := rounds.Load()+20, time.Now().Add(endless); rounds.Load() < until; time.Sleep(time.Millisecond) {
				if t.Failed() || time.Now().After(deadline) {
					stop()
					wg.Wait()
					t.Fatalf("%d rounds of ids, %d leases, %d answers", made.Load(), leased.Load(), parsed.Load())
				}
			}
		}
	}
	progress()
	if err := one.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = one.cmd.Wait()
	progress()
	startServer(t, append(args, one.address)...)
	if err := two.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := two.cmd.Wait(); err != nil {
		t.Errorf("after SIGTERM: %v", err)
	}
	progress()
	stop()
	wg.Wait()
	t.Logf("%d ids, %d leases, %d answers", len(seen), leased.Load(), parsed.Load())
}
