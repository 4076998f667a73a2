package snowkeytest_test

import (
	"context"
	"errors"
	"testing"
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
	storetest.Run(t, storetest.Config{Open: func(*testing.T) driver.Store { return store }})
}

func TestFailRefusesEverything(t *testing.T) {
	store, down := snowkeytest.NewStore(t, nil), errors.New("down")
	store.Fail(down)
	ctx := t.Context()
	_, claim := store.Claim(ctx, driver.Claim{})
	_, renew := store.Renew(ctx, driver.Renewal{})
	_, list := store.List(ctx, "default")
	_, raise := store.Raise(ctx, "default", 0)
	for name, err := range map[string]error{
		"Claim": claim, "Renew": renew, "Release": store.Release(ctx, driver.Release{}), "List": list, "Free": store.Free(ctx, "default", 0, 1), "Raise": raise,
	} {
		if !errors.Is(err, down) {
			t.Errorf("%s: %v", name, err)
		}
	}
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
