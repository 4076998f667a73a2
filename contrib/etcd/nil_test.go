package etcd

import (
	"errors"
	"testing"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// Every method of a store that New has not made returns a *core.ConfigError.
func TestMethodsOfNilStores(t *testing.T) {
	ctx := t.Context()
	for name, s := range map[string]*Store{"nil": nil, "zero": {}} {
		t.Run(name, func(t *testing.T) {
			check := func(method string, err error) {
				t.Helper()
				if config := new(core.ConfigError); !errors.As(err, &config) || len(config.Fields) != 1 {
					t.Errorf("%s.%s: %v", name, method, err)
				}
			}
			_, err := s.Claim(ctx, driver.Request{Namespace: "x", Layout: "l", WorkerIDs: 4, Preferred: -1, Exclude: -1, ClaimID: "t", Owner: "o", FenceWindow: 1, TTL: 1})
			check("Claim", err)
			check("RenewInterval", s.Renew(ctx, driver.Renewal{Namespace: "x", FencingToken: 1, ClaimID: "t", TTL: 1}))
			check("Release", s.Release(ctx, driver.Return{Namespace: "x", FencingToken: 1, ClaimID: "t"}))
			_, err = s.List(ctx, "x")
			check("List", err)
			check("Free", s.Free(ctx, "x", 0, 1))
			_, err = s.Count(ctx, "x")
			check("Count", err)
			_, err = s.Warnings(ctx)
			check("Warnings", err)
		})
	}
}
