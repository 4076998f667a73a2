package worker

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
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
				if t.Failed() {
					continue // each might take as long
				}
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
	t.Cleanup(func() { // if the test fails before giveBack, leases would slow down the others
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		for _, lease := range leases {
			_ = lease.Close(ctx)
		}
	})
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
