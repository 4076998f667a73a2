package worker

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/seed-299c1d6b/snowkey/contrib/etcd"
	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/redisstore"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// However many goroutines of a process wait for a worker ID, the store gets a handful of
// requests a second. A worker ID that becomes free is claimed at once.
func TestCrowd(t *testing.T) {
	for name, start := range map[string]func(t *testing.T) (driver.Store, *driver.Limiter){
		"postgres": func(t *testing.T) (driver.Store, *driver.Limiter) {
			db := newPostgres(t).open(t)
			db.SetMaxOpenConns(16)
			db.SetMaxIdleConns(16)
			s := mustNew(sqlstore.New(db, sqlstore.Config{AllowDataLoss: true}))
			return s, &s.Limiter
		},
		"redis": func(t *testing.T) (driver.Store, *driver.Limiter) {
			s := mustNew(redisstore.New(evaler(client(t, testserver.Redis(t)), false), redisstore.Config{Prefix: t.Name(), AllowDataLoss: true}))
			return s, &s.Limiter
		},
		"etcd": func(t *testing.T) (driver.Store, *driver.Limiter) {
			c, err := clientv3.New(clientv3.Config{Endpoints: []string{testserver.Etcd(t).DSN}, Logger: zap.NewNop()})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = c.Close() })
			s := mustNew(etcd.New(c, etcd.Config{Prefix: t.Name()}))
			return s, &s.Limiter
		},
	} {
		t.Run(name, func(t *testing.T) {
			store, queue := start(t)
			crowd(t, &counted{Store: store, Limiter: queue})
		})
	}
}

// counted counts the claims at a store.
type counted struct {
	driver.Store
	*driver.Limiter
	claims atomic.Int64
}

func (s *counted) Claim(ctx context.Context, r driver.Request) (driver.Claim, error) {
	s.claims.Add(1)
	return s.Store.Claim(ctx, r)
}

func crowd(t *testing.T, store *counted) {
	const numbers, callers = 4, 300
	cfg := worker.Config{Layout: core.Layout{TimeBits: 41, WorkerBits: 2, SequenceBits: 10}, FenceWindow: 20 * time.Minute, TTL: time.Hour, Timeout: patience, ClaimWait: patience}
	taken := hold(t, store, numbers, numbers, cfg, func(int, time.Duration) {})
	defer func() { giveBack(t, taken, numbers) }()

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var wg sync.WaitGroup
	got := make(chan *worker.Generator, callers)
	for range callers {
		wg.Go(func() {
			for ctx.Err() == nil {
				lease, err := worker.Open(ctx, store, cfg)
				if err == nil {
					got <- lease
					return
				}
				if !errors.Is(err, worker.ErrNoWorkerID) && !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
			}
		})
	}
	time.Sleep(2 * time.Second) // each has asked once
	const watched = 5 * time.Second
	before := store.claims.Load()
	time.Sleep(watched)
	rate := float64(store.claims.Load()-before) / watched.Seconds()
	t.Logf("%d callers make %.1f claims a second, which read %.0f rows", callers, rate, rate*numbers)
	if rate > 40 { // 4 on an idle machine; it was 700 when each caller asked for itself
		t.Errorf("%.1f claims a second", rate)
	}
	for i, lease := range taken {
		if err := lease.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		released := time.Now()
		taken[i] = <-got
		took := time.Since(released)
		t.Logf("claimed %v after it was released", took.Round(time.Millisecond))
		if took > 10*time.Second { // a quarter of a second on an idle machine
			t.Errorf("claimed %v after it was released", took)
		}
	}
	cancel()
	wg.Wait()
	for len(got) > 0 {
		taken = append(taken, <-got)
	}
}

// hold acquires n leases, atOnce of them at a time.
func hold(t testing.TB, store driver.Store, n, atOnce int, cfg worker.Config, took func(i int, d time.Duration)) []*worker.Generator {
	t.Helper()
	leases := make([]*worker.Generator, n)
	next := make(chan int)
	var wg sync.WaitGroup
	for range atOnce {
		wg.Go(func() {
			for i := range next {
				began := time.Now()
				lease, err := worker.Open(context.Background(), store, cfg)
				if err != nil {
					t.Errorf("lease %d: %v", i, err)
					continue
				}
				took(i, time.Since(began))
				leases[i] = lease
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return leases
}

// giveBack releases all leases.
func giveBack(t testing.TB, leases []*worker.Generator, atOnce int) {
	t.Helper()
	turns := make(chan struct{}, atOnce)
	var wg sync.WaitGroup
	for _, lease := range leases {
		turns <- struct{}{}
		wg.Go(func() {
			defer func() { <-turns }()
			if err := lease.Close(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}
