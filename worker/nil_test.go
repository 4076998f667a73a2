package worker_test

import (
	"context"
	"errors"
	"testing"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/filestore"
	"github.com/seed-299c1d6b/snowkey/worker/memstore"
	"github.com/seed-299c1d6b/snowkey/worker/redisstore"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// What is nil or was not made by its New is a *ConfigError and no panic.
func TestNilAndZero(t *testing.T) {
	acquire := func(s worker.Store) error {
		_, err := worker.Acquire(t.Context(), s, worker.Config{MaxWait: -1})
		return err
	}
	count := func(c worker.Counter) error {
		_, err := worker.FromCounter(t.Context(), c, core.Layout{}, "x")
		return err
	}
	grant := func(w core.Worker) error {
		_, err := w.Grant(t.Context(), nil)
		return err
	}
	protect := func(w core.Worker) error {
		_, err := worker.Protect(t.Context(), memstore.New(memstore.Config{}), w, worker.Config{})
		return err
	}
	for name, err := range map[string]error{
		"store":               acquire(nil),
		"nil sqlstore":        acquire((*sqlstore.Store)(nil)),
		"zero sqlstore":       acquire(&sqlstore.Store{}),
		"sqlstore of nothing": acquire(sqlstore.New(nil, sqlstore.Config{})),
		"nil redisstore":      acquire((*redisstore.Store)(nil)),
		"zero redisstore":     acquire(&redisstore.Store{}),
		"nil function":        acquire(redisstore.New(redisstore.EvalFunc(nil), redisstore.Config{})),
		"nil memstore":        acquire((*memstore.Store)(nil)),
		"nil filestore":       acquire((*filestore.Store)(nil)),
		"zero filestore":      acquire(&filestore.Store{}),
		"counter":             count(nil),
		"nil counter":         count((*sqlstore.Store)(nil)),
		"zero counter":        count(&redisstore.Store{}),
		"no number":           protect(nil),
		"nil number":          protect((*worker.Number)(nil)),
		"nil lease":           grant((*worker.Lease)(nil)),
		"zero lease":          grant(&worker.Lease{}),
		"release":             (&worker.Lease{}).Release(t.Context()),
		"close":               (&worker.Lease{}).Close(),
	} {
		var config *worker.ConfigError
		if !errors.As(err, &config) {
			t.Errorf("%s: %v", name, err)
		}
	}
	zero := &worker.Lease{}
	if zero.Worker() != -1 || zero.Stats() != (worker.Stats{}) || zero.Err() != nil {
		t.Errorf("%d, %+v", zero.Worker(), zero.Stats())
	}
	if err := acquire(&memstore.Store{}); err != nil {
		t.Errorf("a zero memstore is ready for use: %v", err)
	}
	var none context.Context
	lease, err := worker.Acquire(none, memstore.New(memstore.Config{}), worker.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lease.Grant(none, nil); err != nil {
		t.Error(err)
	}
	if err := lease.Release(none); err != nil {
		t.Error(err)
	}
}
