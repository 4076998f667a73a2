package worker_test

import (
	"errors"
	"testing"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/memstore"
	"github.com/seed-299c1d6b/snowkey/worker/redisstore"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// Methods of a nil value, or of a value that New has not made, return a *core.ConfigError.
func TestNilAndZero(t *testing.T) {
	acquire := func(s driver.Store) error {
		_, err := worker.Open(t.Context(), s, worker.Config{ClaimWait: -1})
		return err
	}
	made := func(_ driver.Store, err error) error { return err }
	count := func(c driver.Counter) error {
		_, _, err := worker.FromCounter(t.Context(), c, core.Layout{}, "x")
		return err
	}
	acquireAs := func(id int64) error {
		_, err := worker.Open(t.Context(), memstore.New(memstore.Config{}), worker.Config{Preferred: &id, RequirePreferred: true})
		return err
	}
	for name, err := range map[string]error{
		"store":               acquire(nil),
		"nil sqlstore":        acquire((*sqlstore.Store)(nil)),
		"zero sqlstore":       acquire(&sqlstore.Store{}),
		"sqlstore of nothing": made(sqlstore.New(nil, sqlstore.Config{})),
		"nil redisstore":      acquire((*redisstore.Store)(nil)),
		"zero redisstore":     acquire(&redisstore.Store{}),
		"nil function":        made(redisstore.New(nil, redisstore.Config{})),
		"nil memstore":        acquire((*memstore.Store)(nil)),
		"counter":             count(nil),
		"nil counter":         count((*sqlstore.Store)(nil)),
		"zero counter":        count(&redisstore.Store{}),
		"negative number":     acquireAs(-1),
	} {
		t.Run(name, func(t *testing.T) {
			var config *core.ConfigError
			if !errors.As(err, &config) {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	for _, g := range []*worker.Generator{nil, {}} {
		_, err := g.Next(t.Context())
		for _, err := range []error{err, g.Fill(t.Context(), make([]int64, 1)), g.Failing()} {
			if !errors.Is(err, core.ErrClosed) {
				t.Error(err)
			}
		}
		if g.Worker() != -1 || g.Stats() != (worker.Stats{}) || g.Layout() != (core.Layout{}) || g.Metrics() != nil || g.Close(t.Context()) != nil {
			t.Errorf("%d, %+v", g.Worker(), g.Stats())
		}
	}
	if err := acquire(&memstore.Store{}); err != nil {
		t.Errorf("a zero memstore is ready for use: %v", err)
	}
}
