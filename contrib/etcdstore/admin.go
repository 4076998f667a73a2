package etcdstore

import (
	"context"
	"fmt"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// List implements driver.Admin. State.Now is by Config.Clock.
func (s *Store) List(ctx context.Context, namespace string) (driver.State, error) {
	if err := s.begin(ctx, namespace); err != nil {
		return driver.State{}, err
	}
	v, err := s.read(ctx, fmt.Sprintf("list namespace %q", namespace), namespace, all, "")
	if err != nil {
		return driver.State{}, err
	}
	return v.Listed(), nil
}

// Free implements driver.Admin.
func (s *Store) Free(ctx context.Context, namespace string, workerID, fencingToken int64) error {
	return s.change(ctx, "free", namespace, workerID, func(rec driver.Record) (driver.Record, error) { return rec.Free(fencingToken) })
}

// Raise implements driver.Admin.
func (s *Store) Raise(ctx context.Context, namespace string, fenceWindow int64) (raised driver.Namespace, err error) {
	if err := s.begin(ctx, namespace); err != nil {
		return raised, err
	}
	what := fmt.Sprintf("raise the floor of namespace %q", namespace)
	err = driver.Retry(ctx, func() (bool, error) {
		v, err := s.read(ctx, what, namespace, all, "")
		if err != nil {
			return false, err
		}
		ch, err := v.Raise(fenceWindow)
		if err != nil {
			return false, err
		}
		raised = *ch.Namespace
		return s.put(ctx, what, v, raised)
	})
	return raised, err
}
