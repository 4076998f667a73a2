package stores

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

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

// All 1,024 worker IDs of the default layout are leased at once; all are different, and so are
// the ids. The next Open fails, or waits until one is free.
func TestAllNumbersAreHeld(t *testing.T) {
	dsn := inDatabase(t, testserver.Postgres(t).DSN)
	db := open(t, "pgx", dsn)
	db.SetMaxOpenConns(16)
	db.SetMaxIdleConns(16)
	store := mustNew(sqlstore.New(db, sqlstore.Config{AllowDataLoss: true}))
	// Long, so that none expires on a busy machine.
	cfg := worker.Config{FenceWindow: 20 * time.Minute, TTL: time.Hour, Timeout: patience, ClaimWait: patience}
	numbers := int(core.Twitter().WorkerIDs())
	leases := hold(t, store, numbers, 16, cfg, func(int, time.Duration) {})
	defer func() { giveBack(t, leases, 16) }()

	taken, ids := map[int64]bool{}, map[int64]bool{}
	for _, lease := range leases {
		if n := lease.Worker(); taken[n] || n < 0 || n >= int64(numbers) {
			t.Fatalf("number %d a second time", n)
		}
		taken[lease.Worker()] = true
		for range 20 {
			id, err := lease.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if ids[id] {
				t.Fatalf("id %d a second time", id)
			}
			ids[id] = true
		}
	}

	once := cfg
	once.ClaimWait = -1
	var none *worker.NoWorkerIDError
	if _, err := worker.Open(t.Context(), store, once); !errors.As(err, &none) || none.Leased != int64(numbers) || none.WorkerIDs != int64(numbers) || none.Wait <= 0 {
		t.Errorf("%v", err)
	}

	// One Open gets a released worker ID; another one waits until its context ends.
	impatient, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := worker.Open(impatient, store, cfg); err == nil || !errors.Is(err, worker.ErrNoWorkerID) && !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	got := make(chan *worker.Generator, 1)
	asked := &refusals{Store: store, refused: make(chan struct{})}
	go func() {
		lease, err := worker.Open(t.Context(), asked, cfg)
		if err != nil {
			t.Error(err)
		}
		got <- lease
	}()
	select {
	case <-asked.refused:
	case lease := <-got:
		if lease != nil {
			t.Errorf("number %d, and all are held", lease.Worker())
			_ = lease.Close(context.Background())
		}
		t.FailNow()
	}
	gone := leases[700]
	number := gone.Worker()
	if err := gone.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	late := <-got
	if late == nil {
		t.FailNow()
	}
	leases[700] = late
	if late.Worker() != number {
		t.Errorf("number %d, and %d was released", late.Worker(), number)
	}
}

// refusals reports the first claim that was refused.
type refusals struct {
	driver.Store
	refused chan struct{}
	once    sync.Once
}

func (s *refusals) Claim(ctx context.Context, r driver.Request) (driver.Claim, error) {
	c, err := s.Store.Claim(ctx, r)
	if errors.Is(err, worker.ErrNoWorkerID) {
		s.once.Do(func() { close(s.refused) })
	}
	return c, err
}
