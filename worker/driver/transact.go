package driver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/seed-299c1d6b/snowkey/internal/backoff"
)

// maxRaces is how often a record may be changed by others before Retry gives up.
const maxRaces = 200

// Retry calls swap, a compare-and-set, until it swaps or fails. If another client changed the
// record after it was read, swap writes nothing and returns false. Between calls, Retry waits a
// random 2 to 20 ms; after 200 calls it gives up. If ctx ends during a wait, Retry returns ctx's
// error. It is for stores whose clients have no lock and no conditional write over all records of
// a namespace, such as those of SQL and etcd.
func Retry(ctx context.Context, swap func() (swapped bool, err error)) error {
	pause := backoff.Backoff{Min: 2 * time.Millisecond, Max: 20 * time.Millisecond}
	for races := 1; ; races++ {
		if swapped, err := swap(); swapped || err != nil {
			return err
		}
		if races == maxRaces {
			return fmt.Errorf("gave up after other clients changed the record %d times", races)
		}
		if err := pause.Wait(ctx, races); err != nil {
			return err
		}
	}
}

// Transact reads a state, calls decide, and writes the change, until that is the last one. It begins
// again if another client was faster, or if a record is locked (write returns [ErrLocked]), and then
// takes another record if it can.
//
// The store provides read and write. read may leave records out, unless all is true: Transact wants all
// of them before it returns a *NoWorkerIDError, which counts them. write reports whether it has
// written the change.
func Transact(
	ctx context.Context,
	decide func(State) (Change, error),
	read func(ctx context.Context, all bool) (State, error),
	write func(context.Context, State, Change) (written bool, err error),
) (l Lease, err error) {
	raised, all, tries := false, false, 0
	var lockedIDs []int64
	var locked error // the last one
	err = Retry(ctx, func() (done bool, err error) {
		for {
			s, err := read(ctx, all)
			if err != nil {
				return false, err
			}
			s.sortRecords(tries)
			s.Locked = lockedIDs
			ch, err := decide(s)
			partial := !all && int64(len(s.Records)) < s.Count
			if none := (*NoWorkerIDError)(nil); partial && errors.As(err, &none) && none.WorkerIDs > 1 {
				all = true
				continue
			}
			if err != nil {
				return false, err
			}
			if ch.Index == nil && ch.Namespace == nil && ch.Make == nil && ch.Record == nil {
				l = ch.Lease
				return true, nil
			}
			written, err := write(ctx, s, ch)
			if raises := ch.Namespace != nil && ch.Namespace.Floor > s.Namespace.Floor; raises && (written || err != nil) {
				raised = true // also if only the answer was lost
			}
			if errors.Is(err, ErrLocked) {
				locked, written, err = err, false, nil
				if ch.Record != nil {
					lockedIDs = append(lockedIDs, ch.Record.Worker)
				}
			}
			if err != nil || !written {
				tries++
				return false, err
			}
			if ch.Record != nil {
				l = ch.Lease
				return true, nil
			}
		}
	})
	if err != nil && locked != nil {
		err = fmt.Errorf("%w: %w", locked, err)
	}
	l.FloorRaised = raised
	return l, err
}

// sortRecords sorts the records by fence, earliest first; after a race, it shuffles them.
func (s State) sortRecords(races int) {
	slices.SortFunc(s.Records, func(a, b Record) int { return cmp.Or(cmp.Compare(a.Fence, b.Fence), cmp.Compare(a.Worker, b.Worker)) })
	if races > 0 {
		rand.Shuffle(len(s.Records), func(i, j int) { s.Records[i], s.Records[j] = s.Records[j], s.Records[i] })
	}
}
