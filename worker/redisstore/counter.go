package redisstore

import (
	"context"
	"fmt"
	"strings"

	"github.com/seed-299c1d6b/snowkey/internal/hung"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// Reserve implements driver.Counter: it takes the n numbers first to first+n-1 of a key. The first
// number of a key is 1. Reserve is one script. It returns an error if it can see that Redis may lose
// the count. If the answer is lost, the numbers are taken and never used.
//
// A key follows the rules of a namespace. Keys do not expire: delete those that you no longer need.
func (s *Store) Reserve(ctx context.Context, key string, n int64) (first int64, err error) {
	if err := driver.CheckReservation(key, n); err != nil {
		return 0, err
	}
	if err := s.check(key); err != nil {
		return 0, err
	}
	scripts := []string{"durable", "reserve"}
	if s.cfg.AllowDataLoss {
		scripts = scripts[1:]
	}
	r, err := s.run(ctx, "reserve", scripts, []string{s.key("counter", key)}, n)
	if err == nil && !r.ok && len(r.values) == 3 {
		err = &driver.DurabilityError{Setting: r.values[0], Value: r.values[1], Want: r.values[2]}
	}
	if err == nil { // after the write: a setting that was right only before it proves nothing
		err = s.checkSync(ctx)
	}
	if err != nil {
		return 0, err
	}
	last, err := r.integer()
	if err == nil && last < n {
		err = fmt.Errorf("redisstore: reserve %d numbers of key %q: the counter was changed: it is only %d afterwards", n, key, last)
	}
	if err != nil {
		return 0, err
	}
	return last - n + 1, nil
}

// checkSync checks the setting that a script cannot read.
func (s *Store) checkSync(ctx context.Context) error {
	if s.cfg.ConfigGet == nil || s.cfg.AllowDataLoss {
		return nil
	}
	const what = "redisstore: CONFIG GET appendfsync"
	value, err := hung.Do(ctx, &s.calls, what, func() (string, error) { return s.cfg.ConfigGet(ctx, "appendfsync") })
	hidden := err != nil && (strings.Contains(err.Error(), "unknown command") || strings.Contains(err.Error(), "NOPERM "))
	switch {
	case err != nil && !hidden:
		return fmt.Errorf("%s, to check that a write is not lost: %w", what, err)
	case err == nil && value != "" && value != "always":
		return &driver.DurabilityError{Setting: "appendfsync", Value: value, Want: "always"}
	}
	return nil
}
