package etcd

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// patience is for what is certain to come, on a machine that is busy.
const patience = 3 * time.Minute

func await(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("no %s", what)
		}
	}
}

// The server crashes and comes back, again and again, while generators continue: no id is
// issued twice, and no fence is lost.
func TestServerIsKilled(t *testing.T) {
	server := testserver.NewEtcd(t)
	layout := core.Layout{TimeBits: 41, WorkerBits: 3, SequenceBits: 4}
	var mu sync.Mutex
	seen := map[int64]int{}
	count := func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(seen)
	}
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for i := range 3 {
		store := mustNew(New(connect(t, server), Config{Prefix: "killed"}))
		apart := time.Duration(i-1) * 300 * time.Millisecond
		now := func() time.Time { return time.Now().Add(apart) }
		wg.Go(func() {
			for life := 0; ctx.Err() == nil; life++ {
				gen, err := worker.Open(ctx, store, worker.Config{
					Layout: layout, Now: now, FenceWindow: 700 * time.Millisecond, TTL: 2 * time.Second, Timeout: 3 * time.Second, MaxLead: time.Hour, ClaimWait: patience,
					MaxWait: 20 * time.Millisecond,
				})
				if err != nil && ctx.Err() != nil {
					return
				}
				for end := time.Now().Add(400 * time.Millisecond); err == nil && time.Now().Before(end); {
					id, drawn := gen.Next(context.Background())
					if errors.Is(drawn, core.ErrFenced) || errors.Is(drawn, core.ErrSequenceExhausted) {
						continue
					}
					if err = drawn; err == nil {
						mu.Lock()
						seen[id]++
						mu.Unlock()
					}
				}
				// Where this process stood still for longer than TTL, another one has the worker ID.
				if err != nil && !errors.Is(err, core.ErrLost) {
					t.Error(err)
				}
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(life%2)*100*time.Millisecond)
				_ = gen.Close(ctx) // half of them are never released
				cancel()
			}
		})
	}
	defer func() { stop(); wg.Wait() }()
	for range 4 {
		before := count()
		time.Sleep(500 * time.Millisecond)
		await(t, "100 ids before the server is killed", func() bool { return count() >= before+100 })
		if err := server.Kill(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(300 * time.Millisecond)
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
	}
	before := count()
	await(t, "100 ids after all", func() bool { return count() >= before+100 })
	stop()
	wg.Wait()
	for id, times := range seen {
		if times > 1 {
			p, _ := layout.Decode(id)
			t.Fatalf("%+v was issued %d times", p, times)
		}
	}
	t.Logf("%d ids", len(seen))
}

// The lease outlives its server's crash, and the server's pause.
func TestOutage(t *testing.T) {
	server := testserver.NewEtcd(t)
	gen, err := worker.Open(t.Context(), mustNew(New(connect(t, server), Config{})), worker.Config{FenceWindow: 10 * time.Minute, RenewInterval: 500 * time.Millisecond, TTL: 15 * time.Minute, ClaimWait: patience})
	if err != nil {
		t.Fatal(err)
	}
	defer gen.Close(context.Background())
	for _, outage := range []struct{ begin, end func() error }{{server.Kill, server.Start}, {server.Pause, server.Resume}} {
		before := gen.Stats()
		if err := outage.begin(); err != nil {
			t.Fatal(err)
		}
		await(t, "failure", func() bool { return gen.Stats().Failures > before.Failures })
		if _, err := gen.Next(t.Context()); err != nil {
			t.Errorf("while the server is away: %v", err)
		}
		if err := outage.end(); err != nil {
			t.Fatal(err)
		}
		renewals := gen.Stats().Renewals
		await(t, "renewal", func() bool { return gen.Stats().Renewals > renewals })
	}
	if st := gen.Stats(); st.Losses > 0 || st.Claims != 1 {
		t.Errorf("%+v", st)
	}
	if err := gen.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

// While nothing answers, every call ends when its context does.
func TestContexts(t *testing.T) {
	server := testserver.NewEtcd(t)
	store := mustNew(New(connect(t, server), Config{}))
	r := request(newNamespace())
	c, err := store.Claim(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Pause(); err != nil {
		t.Fatal(err)
	}
	for what, call := range map[string]func(ctx context.Context) error{
		"Claim": func(ctx context.Context) error { _, err := store.Claim(ctx, request(r.Namespace)); return err },
		"RenewInterval": func(ctx context.Context) error {
			return store.Renew(ctx, driver.Renewal{Namespace: r.Namespace, Worker: c.Worker, FencingToken: 1, ClaimID: r.ClaimID, Fence: c.Fence, TTL: 1})
		},
		"Release": func(ctx context.Context) error {
			return store.Release(ctx, driver.Return{Namespace: r.Namespace, Worker: c.Worker, FencingToken: 1, ClaimID: r.ClaimID, Fence: c.Fence})
		},
		"List":  func(ctx context.Context) error { _, err := store.List(ctx, r.Namespace); return err },
		"Free":  func(ctx context.Context) error { return store.Free(ctx, r.Namespace, c.Worker, 1) },
		"Count": func(ctx context.Context) error { _, err := store.Count(ctx, r.Namespace); return err },
	} {
		t.Run(what, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			ended := make(chan error, 1)
			go func() { ended <- call(ctx) }()
			select {
			case err := <-ended:
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%s: %v", what, err)
				}
			case <-time.After(patience): // nothing else would end it
				t.Errorf("%s has not ended", what)
			}
			cancel()
		})
	}
	if err := server.Resume(); err != nil {
		t.Fatal(err)
	}
}

// While no member answers, each request makes the client connect again at once. So ids
// resume soon after the server is back, however long it was away.
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
	store := mustNew(New(client, Config{}))
	// By itself it would try eleven times in that time at most: it waits 1s, 1.6s, 2.6s
	// and so on, each a fifth longer or shorter.
	const enough, much = 12, 3 * time.Minute
	requests := 0
	for began := time.Now(); tries.Load() < enough; requests++ {
		if time.Since(began) > much {
			t.Fatalf("%d requests in %v made it try %d times", requests, much, tries.Load())
		}
		ctx, cancel := context.WithTimeout(t.Context(), 150*time.Millisecond)
		err := store.Renew(ctx, driver.Renewal{Namespace: "s", FencingToken: 1, ClaimID: "t", Fence: 1, TTL: 1})
		if err == nil {
			t.Error("no member has answered, and there is no error")
		}
		cancel()
	}
	t.Logf("%d requests made it try %d times", requests, tries.Load())
}

// An error says which members were asked in vain, what for, and why.
func TestUnreachable(t *testing.T) {
	none, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := none.Addr().String()
	if err := none.Close(); err != nil {
		t.Fatal(err)
	}
	silent, err := net.Listen("tcp", "127.0.0.1:0") // it accepts, and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	for endpoint, why := range map[string]string{nobody: "connection refused", silent.Addr().String(): ""} {
		client, err := clientv3.New(clientv3.Config{Endpoints: []string{endpoint}, Logger: zap.NewNop()})
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		lease, err := worker.Open(t.Context(), mustNew(New(client, Config{})), worker.Config{Namespace: "orders", Timeout: time.Second, ClaimWait: -1})
		if lease != nil || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
			continue
		}
		for _, want := range []string{`etcd: read namespace "orders": no answer from ` + endpoint, why, "Config.Timeout is 1s"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q does not tell %q", err, want)
			}
		}
		t.Log(err)
	}
}

// Whatever the client's error is, the error of a context that is done is the context's.
func TestFailed(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	if err := (&Store{}).failed(ctx, "renew", errLost); !errors.Is(err, errLost) || errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	cancel()
	if err := (&Store{}).failed(ctx, "renew", errLost); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
