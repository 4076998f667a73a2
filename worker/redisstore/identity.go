package redisstore

import (
	"context"
	"fmt"

	"github.com/seed-299c1d6b/snowkey/internal/fields"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// WorkerIDOf gives an identity, for example an address, a number from 0 to
// numbers-1 in the space: the same one each time, the next one when it is new, and
// a *driver.CounterExhaustedError when there is none left.
//
// Two processes can have one identity, as two containers have one address. So the
// number is no grant: it is the Preferred number of a lease, by [worker.Prefer],
// and with a datacenter d it is d<<WorkerBits | number.
func (s *Store) WorkerIDOf(ctx context.Context, space, identity string, numbers int64) (int64, error) {
	if err := driver.CheckNamespace(space); err != nil {
		return 0, err
	}
	var wrong fields.Errors
	if identity == "" {
		wrong.Add("identity", identity, "must not be empty")
	}
	if numbers < 1 {
		wrong.Add("numbers", numbers, "must be at least 1")
	}
	if err := wrong.Err("redisstore"); err != nil {
		return 0, err
	}
	if numbers > maxNumbers {
		return 0, tooMany(numbers)
	}
	answer, err := s.run(ctx, "number of an identity", identityScript, s.key("identity", space), identity, numbers)
	if err != nil {
		return 0, err
	}
	var n [1]int64
	switch {
	case answer.is("used", 1):
		return 0, usedUp(space, identity, numbers)
	case !answer.is("ok", 2):
		return 0, answer.unexpected("number of an identity")
	}
	if err := answer.numbers(n[:]); err != nil {
		return 0, err
	}
	if n[0] >= numbers {
		return 0, usedUp(space, identity, numbers) // it was given when there were more
	}
	return n[0], nil
}

func usedUp(space, identity string, numbers int64) error {
	return fmt.Errorf("redisstore: identity %.100q gets no number in space %q, acquire a lease without Preferred: %w", identity, space, &driver.CounterExhaustedError{Name: space, WorkerIDs: numbers})
}
