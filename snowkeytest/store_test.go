package snowkeytest_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/snowkeytest"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/storetest"
)

// A store that is not told to fail is a store like any other.
func TestStoreSuite(t *testing.T) {
	store := snowkeytest.NewStore(t, nil)
	storetest.Run(t, storetest.Harness{Open: func(*testing.T) driver.Store { return store }})
}

// leased runs a test in a bubble, with a generator that has a lease of the store.
func leased(t *testing.T, test func(t *testing.T, store *snowkeytest.Store, gen *worker.Generator)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))) // a bubble begins in 2000
		store := snowkeytest.NewStore(t, nil)
		gen, err := worker.Open(t.Context(), store, worker.Config{})
		if err != nil {
			t.Fatal(err)
		}
		defer gen.Close(context.Background())
		test(t, store, gen)
	})
}

func TestFail(t *testing.T) {
	leased(t, func(t *testing.T, store *snowkeytest.Store, gen *worker.Generator) {
		down := errors.New("down")
		store.Fail(down)
		time.Sleep(15 * time.Second)
		if _, err := gen.Next(t.Context()); err != nil {
			t.Errorf("before the fence: %v", err)
		}
		time.Sleep(time.Minute)
		if _, err := gen.Next(t.Context()); !errors.Is(err, core.ErrFenced) || !errors.Is(err, down) {
			t.Errorf("at the fence: %v", err)
		}
		store.Fail(nil)
		time.Sleep(time.Second)
		if _, err := gen.Next(t.Context()); err != nil {
			t.Errorf("afterwards: %v", err)
		}
	})
}

func TestFailRefusesEverything(t *testing.T) {
	store, down := snowkeytest.NewStore(t, nil), errors.New("down")
	store.Fail(down)
	ctx := t.Context()
	_, claim := store.Claim(ctx, driver.Request{})
	_, list := store.List(ctx, "default")
	for name, err := range map[string]error{
		"Claim": claim, "Renew": store.Renew(ctx, driver.Renewal{}), "Release": store.Release(ctx, driver.Return{}), "List": list, "Free": store.Free(ctx, "default", 0, 1),
	} {
		if !errors.Is(err, down) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLose(t *testing.T) {
	leased(t, func(t *testing.T, store *snowkeytest.Store, gen *worker.Generator) {
		before := gen.Worker()
		store.Lose()
		time.Sleep(11 * time.Second) // until the next renewal
		if gen.Stats().Losses != 1 || gen.Worker() == before {
			t.Errorf("%+v", gen.Stats())
		}
		if _, err := gen.Next(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestSlow(t *testing.T) {
	leased(t, func(t *testing.T, store *snowkeytest.Store, gen *worker.Generator) {
		store.Slow(time.Second) // less than the timeout of a request
		time.Sleep(time.Minute)
		if s := gen.Stats(); s.Failures != 0 || s.Renewals < 4 {
			t.Errorf("%+v", s)
		}
		store.Slow(5 * time.Second)
		time.Sleep(time.Minute)
		if _, err := gen.Next(t.Context()); !errors.Is(err, core.ErrFenced) || !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		store.Slow(0)
		time.Sleep(5 * time.Second)
		if _, err := gen.Next(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// A lease and its store share a scripted clock.
func TestStoreClock(t *testing.T) {
	clock := snowkeytest.NewClock(t, time.Time{})
	gen, err := worker.Open(t.Context(), snowkeytest.NewStore(t, clock), worker.Config{Now: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer gen.Close(context.Background())
	id, err := gen.Next(t.Context())
	if p, _ := gen.Layout().Decode(id); err != nil || !p.Time.Equal(clock.Now()) {
		t.Errorf("%v, %v", p.Time, err)
	}
}

// A Store that NewStore has not made returns an error.
func TestZeroStore(t *testing.T) {
	var config *core.ConfigError
	if _, err := worker.Open(t.Context(), new(snowkeytest.Store), worker.Config{}); !errors.As(err, &config) {
		t.Error(err)
	}
}
