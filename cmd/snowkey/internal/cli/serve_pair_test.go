package cli

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
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
	*process
	address string
}

func startServer(t *testing.T, args ...string) *server {
	t.Helper()
	p := start(t, append([]string{"serve"}, args...)...)
	s := &server{p, p.until(t, "serving http://")}
	go func() { // it must not wait for a reader
		for p.lines.Scan() {
		}
	}()
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
// shuts down: clients that know both addresses get worker IDs and IDs all the time, and no ID twice.
func TestTwoServers(t *testing.T) {
	const token = "a-token-of-16-or-more"
	dir := t.TempDir()
	file := filepath.Join(dir, "token")
	if err := os.WriteFile(file, []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"--store", filepath.Join(dir, "ids.db"), "--token-file", file, "--admin", "--addr"}
	one, two := startServer(t, append(args, "127.0.0.1:0")...), startServer(t, append(args, "127.0.0.1:0")...)
	client := &http.Client{Transport: &both{addresses: [2]string{one.address, two.address}}}
	store, err := httpstore.New(httpstore.Config{URL: "http://both.localhost/leases", Token: token, Client: client})
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	seen := map[int64]bool{}
	patient := worker.Config{FenceWindow: time.Minute, RenewInterval: 20 * time.Millisecond, Timeout: 10 * time.Second, ClaimWait: endless}
	over, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	var rounds [2]atomic.Int64
	// load makes IDs with one generator, or with a new one each time.
	load := func(again bool, rounds *atomic.Int64) error {
		var gen *worker.Generator
		for over.Err() == nil {
			if gen == nil {
				var err error
				if gen, err = worker.Open(t.Context(), store, patient); err != nil {
					return err
				}
			}
			ids := make([]int64, 10)
			if err := gen.Fill(t.Context(), ids); err != nil {
				return err
			}
			mu.Lock()
			for _, id := range ids {
				if seen[id] {
					t.Errorf("%d comes twice", id)
				}
				seen[id] = true
			}
			mu.Unlock()
			if again {
				_ = gen.Close(context.Background())
				gen = nil
			}
			rounds.Add(1)
			time.Sleep(time.Millisecond)
		}
		return gen.Close(context.Background())
	}
	for i := range 6 {
		wg.Go(func() {
			if err := load(i%2 == 1, &rounds[i%2]); err != nil && over.Err() == nil {
				t.Error(err)
			}
		})
	}
	defer wg.Wait()
	defer stop()
	// progress waits until each kind of load has had some rounds more.
	progress := func() {
		t.Helper()
		for i := range rounds {
			for until, deadline := rounds[i].Load()+20, time.Now().Add(endless); rounds[i].Load() < until; time.Sleep(time.Millisecond) {
				if t.Failed() || time.Now().After(deadline) {
					t.Fatalf("%d rounds of IDs, %d of leases", rounds[0].Load(), rounds[1].Load())
				}
			}
		}
	}
	progress()
	if err := one.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = one.Wait()
	progress()
	startServer(t, append(args, one.address)...)
	if err := two.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := two.Wait(); err != nil {
		t.Errorf("after SIGTERM: %v", err)
	}
	progress()
}
