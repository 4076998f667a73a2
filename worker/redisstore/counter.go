package redisstore

import (
	"context"
	"fmt"

	"github.com/seed-299c1d6b/snowkey/internal/fields"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// Reserve implements driver.Counter: it takes the n numbers first to first+n-1 of a key. The
// first number of a key is 1. It is one script, atomic over all processes, and refuses what
// Claim refuses. If the answer is lost, the numbers are taken and never used.
//
// The rules for a key are those for a namespace. Keys have no time to live: delete a key when its
// numbers are no longer needed, for example the key of a past day.
func (s *Store) Reserve(ctx context.Context, key string, n int64) (first int64, err error) {
	if err := driver.CheckReservation(key, n); err != nil {
		return 0, err
	}
	if err := s.check(key); err != nil {
		return 0, err
	}
	answer, err := s.evalDurable(ctx, "reserve", reserveScript, s.key("counter", key), n)
	if err != nil {
		return 0, err
	}
	last, err := answer.integers("ok", 1)
	if err == nil && last[0] < n {
		err = fmt.Errorf("redisstore: reserve %d numbers of key %q: the counter was changed: it is only %d afterwards", n, key, last[0])
	}
	if err != nil {
		return 0, err
	}
	return last[0] - n + 1, nil
}

// WorkerIDOf maps an identity, such as an IP address, to a worker ID from 0 to workerIDs-1 in
// the namespace. An identity keeps its worker ID; a new identity gets the next one. If none is
// left, the error matches *driver.CounterExhaustedError.
//
// This is no lease: two processes may have the same identity, as two containers may have the
// same address. Use it as the Preferred worker ID of a lease. With a datacenter d, that is
// d<<WorkerBits | ID.
func (s *Store) WorkerIDOf(ctx context.Context, namespace, identity string, workerIDs int64) (int64, error) {
	if err := s.check(namespace); err != nil {
		return 0, err
	}
	var wrong fields.Errors
	if identity == "" {
		wrong.Add("identity", identity, "must not be empty")
	}
	if workerIDs < 1 || workerIDs > maxWorkerIDs {
		wrong.Add("workerIDs", workerIDs, "must be 1 to 2^53, which is as far as Redis's scripts can count")
	}
	if err := wrong.Err("redisstore"); err != nil {
		return 0, err
	}
	answer, err := s.run(ctx, "map an identity", identityScript, s.key("identity", namespace), identity, workerIDs)
	if err != nil {
		return 0, err
	}
	id := workerIDs
	if !answer.is("used", 0) {
		n, err := answer.integers("ok", 1)
		if err != nil {
			return 0, err
		}
		id = n[0]
	}
	if id >= workerIDs { // also if it was given when there were more
		return 0, fmt.Errorf("redisstore: no worker ID is left for identity %.100q in namespace %q; acquire a lease without Preferred: %w", identity, namespace, &driver.CounterExhaustedError{Name: namespace, WorkerIDs: workerIDs})
	}
	return id, nil
}
