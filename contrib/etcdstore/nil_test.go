package etcdstore

import (
	"errors"
	"testing"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// Every method of a store that New has not made returns a *core.ConfigError.
func TestMethodsOfNilStores(t *testing.T) {
	ctx := t.Context()
	for _, s := range []*Store{nil, {}} {
		_, claim := s.Claim(ctx, claim("x"))
		_, list := s.List(ctx, "x")
		_, reserve := s.Reserve(ctx, "x", 1)
		_, renew := s.Renew(ctx, driver.Renewal{Namespace: "x", FencingToken: 1, ClaimID: "t"})
		_, raise := s.Raise(ctx, "x", 0)
		for method, err := range map[string]error{
			"Claim": claim, "List": list, "Reserve": reserve, "Renew": renew, "Raise": raise, "Free": s.Free(ctx, "x", 0, 1),
			"Release": s.Release(ctx, driver.Release{Namespace: "x", FencingToken: 1, ClaimID: "t"}),
		} {
			if config := new(core.ConfigError); !errors.As(err, &config) || len(config.Fields) != 1 {
				t.Errorf("%s: %v", method, err)
			}
		}
	}
}
