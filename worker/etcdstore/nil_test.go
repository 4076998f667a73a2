package etcdstore

import (
	"errors"
	"testing"

	"github.com/seed-299c1d6b/snowkey/worker"
)

// Every method of a store that was not made by New gives a *ConfigError.
func TestMethodsOfNilStores(t *testing.T) {
	ctx := t.Context()
	for name, s := range map[string]*Store{"nil": nil, "zero": {}, "of no client": New(nil, Config{})} {
		check := func(method string, err error) {
			t.Helper()
			if config := new(worker.ConfigError); !errors.As(err, &config) || len(config.Faults) != 1 {
				t.Errorf("%s.%s: %v", name, method, err)
			}
		}
		_, err := s.Claim(ctx, worker.Request{Space: "x", Layout: "l", Numbers: 4, Preferred: -1, Avoid: -1, Token: "t", Owner: "o", Window: 1, TTL: 1})
		check("Claim", err)
		check("Renew", s.Renew(ctx, worker.Renewal{Space: "x", Epoch: 1, Token: "t", TTL: 1}))
		check("Release", s.Release(ctx, worker.Return{Space: "x", Epoch: 1, Token: "t"}))
		_, err = s.List(ctx, "x")
		check("List", err)
		check("Free", s.Free(ctx, "x", 0, 1))
		_, err = s.Count(ctx, "x")
		check("Count", err)
		_, err = s.Warnings(ctx)
		check("Warnings", err)
	}
}
