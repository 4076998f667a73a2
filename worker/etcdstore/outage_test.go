package etcdstore

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/worker"
)

func await(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("no %s", what)
		}
	}
}

// The server crashes and comes back, again and again, under generators that go on:
// no id comes twice, and no bound is forgotten.
func TestServerIsKilled(t *testing.T) {
	server := testserver.NewEtcd(t)
	layout := core.Layout{TimeBits: 41, WorkerBits: 3, SequenceBits: 4}
	var mu sync.Mutex
	seen := map[int64]int{}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for i := range 3 {
		store := New(connect(t, server), Config{Prefix: "killed"})
		apart := time.Duration(i-1) * 300 * time.Millisecond
		now := func() time.Time { return time.Now().Add(apart) }
		wg.Go(func() {
			for life := 0; ; life++ {
				select {
				case <-stop:
					return
				default:
				}
				lease, err := worker.Acquire(t.Context(), store, worker.Config{
					Layout: layout, Now: now, Window: 700 * time.Millisecond, TTL: 2 * time.Second, MaxLead: time.Hour, MaxWait: 20 * time.Second,
				})
				if err != nil {
					t.Error(err)
					return
				}
				gen, err := core.New(core.Config{Worker: lease, Now: now, MaxWait: 20 * time.Millisecond})
				if err != nil {
					t.Error(err)
					return
				}
				for end := time.Now().Add(400 * time.Millisecond); time.Now().Before(end); {
					id, err := gen.Next(context.Background())
					if errors.Is(err, core.ErrFenced) || errors.Is(err, core.ErrSequenceExhausted) {
						continue
					}
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					seen[id]++
					mu.Unlock()
				}
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(life%2)*100*time.Millisecond)
				_ = lease.Release(ctx) // half of them are never released
				cancel()
			}
		})
	}
	for range 4 {
		time.Sleep(500 * time.Millisecond)
		if err := server.Kill(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(300 * time.Millisecond)
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	wg.Wait()
	for id, times := range seen {
		if times > 1 {
			p, _ := layout.Decompose(id)
			t.Fatalf("%+v was issued %d times", p, times)
		}
	}
	if len(seen) < 500 {
		t.Errorf("only %d ids", len(seen))
	}
	t.Logf("%d ids", len(seen))
}

// The lease outlives its server's crash, and the server's pause.
func TestOutage(t *testing.T) {
	server := testserver.NewEtcd(t)
	lease, err := worker.Acquire(t.Context(), New(connect(t, server), Config{}), worker.Config{Window: 20 * time.Second, Renew: 500 * time.Millisecond, TTL: 30 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	gen, err := core.New(core.Config{Worker: lease})
	if err != nil {
		t.Fatal(err)
	}
	defer gen.Close()
	for _, outage := range []struct{ begin, end func() error }{{server.Kill, server.Start}, {server.Pause, server.Resume}} {
		before := lease.Stats()
		if err := outage.begin(); err != nil {
			t.Fatal(err)
		}
		await(t, "failure", func() bool { return lease.Stats().Failures > before.Failures })
		if _, err := gen.Next(t.Context()); err != nil {
			t.Errorf("while the server is away: %v", err)
		}
		if err := outage.end(); err != nil {
			t.Fatal(err)
		}
		renewals := lease.Stats().Renewals
		await(t, "renewal", func() bool { return lease.Stats().Renewals > renewals })
	}
	if st := lease.Stats(); st.Losses > 0 || st.Claims != 1 {
		t.Errorf("%+v", st)
	}
	if err := lease.Close(); err != nil {
		t.Error(err)
	}
}

// While nothing answers, every call ends when its context does.
func TestContexts(t *testing.T) {
	server := testserver.NewEtcd(t)
	store := New(connect(t, server), Config{})
	r := request(newSpace())
	c, err := store.Claim(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Pause(); err != nil {
		t.Fatal(err)
	}
	for what, call := range map[string]func(ctx context.Context) error{
		"Claim": func(ctx context.Context) error { _, err := store.Claim(ctx, request(r.Space)); return err },
		"Renew": func(ctx context.Context) error {
			return store.Renew(ctx, worker.Renewal{Space: r.Space, Worker: c.Worker, Epoch: 1, Token: r.Token, Until: c.Until, TTL: 1})
		},
		"Release": func(ctx context.Context) error {
			return store.Release(ctx, worker.Return{Space: r.Space, Worker: c.Worker, Epoch: 1, Token: r.Token, Until: c.Until})
		},
		"List":  func(ctx context.Context) error { _, err := store.List(ctx, r.Space); return err },
		"Free":  func(ctx context.Context) error { return store.Free(ctx, r.Space, c.Worker, 1) },
		"Count": func(ctx context.Context) error { _, err := store.Count(ctx, r.Space); return err },
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		began := time.Now()
		if err := call(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 5*time.Second {
			t.Errorf("%s: %v after %v", what, err, time.Since(began))
		}
		cancel()
	}
	if err := server.Resume(); err != nil {
		t.Fatal(err)
	}
}

// While no member answers, each request makes the client try again at once: so ids
// go on soon after the server is back, however long it was away.
func TestEachRequestConnects(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var tries atomic.Int64
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			tries.Add(1)
			_ = c.Close()
		}
	}()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{l.Addr().String()}, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	store := New(client, Config{})
	const requests = 12
	for range requests {
		ctx, cancel := context.WithTimeout(t.Context(), 150*time.Millisecond)
		err := store.Renew(ctx, worker.Renewal{Space: "s", Epoch: 1, Token: "t", Until: 1, TTL: 1})
		if err == nil {
			t.Error("nobody has answered, and there is no error")
		}
		cancel()
	}
	// By itself it would have tried two or three times by now.
	if n := tries.Load(); n < requests/2 {
		t.Errorf("%d requests made it try %d times", requests, n)
	}
}

// Whatever words the client finds for it, a context that is done is told as such.
func TestFailed(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	if err := failed(ctx, "renew", errLost); !errors.Is(err, errLost) || errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	cancel()
	if err := failed(ctx, "renew", errLost); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
