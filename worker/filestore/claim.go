package filestore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/internal/bounded"
)

// Claim implements worker.Store.
func (s *Store) Claim(ctx context.Context, r driver.Request) (driver.Claim, error) {
	if err := errors.Join(r.Validate(), s.check()); err != nil {
		return driver.Claim{}, err
	}
	c, err := bounded.Do(ctx, &s.calls, "filestore: claim in "+s.path(r.Namespace), func() (driver.Claim, error) { return s.claimWhenFree(ctx, r) })
	return c, lasting(err)
}

// lasting marks what a file system goes on answering until somebody has changed it:
// also that it is read-only, or has no locks. A full disk, say, is none of it.
func lasting(err error) error {
	for _, refusal := range []error{fs.ErrNotExist, fs.ErrPermission, syscall.ENOTDIR, errReadOnly, errors.ErrUnsupported} {
		if errors.Is(err, refusal) {
			return driver.Permanent(err)
		}
	}
	return err
}

// claimWhenFree waits while other processes claim, or change the only row that is left.
func (s *Store) claimWhenFree(ctx context.Context, r driver.Request) (driver.Claim, error) {
	if err := s.prepare(r.Namespace); err != nil {
		return driver.Claim{}, err
	}
	var c driver.Claim
	d := directory{path: s.path(r.Namespace)}
	for busy := false; ; {
		err := d.locked(ctx, spaceLock, func(space changing) (err error) {
			c, err = s.claim(space, r)
			return err
		})
		switch {
		case err == nil:
			return c, nil
		case busy && ctx.Err() != nil && errors.Is(err, ctx.Err()):
			return driver.Claim{}, fmt.Errorf("%w: %w", errBusy, err)
		case !errors.Is(err, errBusy):
			return driver.Claim{}, err
		}
		busy = true
		select {
		case <-time.After(2 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

// claim does it while no other process claims. Those that hold numbers go on meanwhile.
func (s *Store) claim(d changing, r driver.Request) (c driver.Claim, err error) {
	now := time.Now().UnixMilli()
	if err := d.checkLayout(r); err != nil {
		return c, err
	}
	if err := r.CheckSkew(now); err != nil {
		return c, err
	}
	rows, err := d.rows()
	if err != nil {
		return c, err
	}
	if i := slices.IndexFunc(rows, func(row driver.Record) bool { return row.ClaimID == r.ClaimID }); i >= 0 && s.holds(r.Namespace, rows[i].Worker) > 0 {
		return r.Replay(rows[i]), nil
	}
	row, alive, err := take(d.directory, r, rows, now)
	if err != nil {
		return c, err
	}
	var until int64
	c.From, until = r.Interval(row.Fence)
	row.FencingToken, row.ClaimID, row.Owner, row.Fence, row.Expires = row.FencingToken+1, r.ClaimID, r.Owner, until, driver.Expiry(now, r.TTL)
	if err := alive.number.write(row); err != nil {
		return driver.Claim{}, errors.Join(err, alive.close())
	}
	c.Worker, c.FencingToken, c.Fence = row.Worker, row.FencingToken, until
	return c, errors.Join(s.keep(place{r.Namespace, row.Worker}, held{alive.process, row.FencingToken}), alive.number.lock.Close())
}

// errBusy says that no number is free but one whose row somebody is about to change.
var errBusy = errors.New("filestore: the number that is free is being changed by another process, which may be stopped")

// taken are the two locks of a number that is claimed.
type taken struct {
	process *os.File // that this process lives; kept
	number  changing // its row
}

func (t taken) close() error { return errors.Join(t.process.Close(), t.number.lock.Close()) }

// take finds a number whose process does not live, locks it and gives its row as it
// is then.
func take(d directory, r driver.Request, rows []driver.Record, now int64) (driver.Record, taken, error) {
	for i := range rows { // who holds it is told by the lock alone
		rows[i].Expires = 0
	}
	set := func(row driver.Record) {
		if i := slices.IndexFunc(rows, func(have driver.Record) bool { return have.Worker == row.Worker }); i >= 0 {
			rows[i] = row
		} else {
			rows = append(rows, row)
		}
	}
	busy := false
	for {
		free, err := driver.Candidates(r, rows, now, nil)
		if busy && errors.Is(err, driver.ErrNoWorkerID) {
			err = errBusy
		}
		if err != nil {
			return driver.Record{}, taken{}, err
		}
		row := free[0]
		locks, err := d.takeLocks(row.Worker)
		switch {
		case errors.Is(err, errBusy), errors.Is(err, errLocked):
			busy = busy || errors.Is(err, errBusy)
			set(driver.Record{Worker: row.Worker, FencingToken: row.FencingToken, ClaimID: "held", Fence: row.Fence, Expires: driver.NoTTL})
			continue
		case err != nil:
			return driver.Record{}, taken{}, err
		}
		// It may have been renewed or released since it was read.
		latest, err := d.read(row.Worker)
		switch {
		case errors.Is(err, os.ErrNotExist) && row.FencingToken == 0:
			return row, locks, nil
		case err != nil:
			return driver.Record{}, taken{}, errors.Join(err, locks.close())
		case latest.FencingToken == row.FencingToken && latest.Fence == row.Fence:
			return latest, locks, nil
		}
		if err := locks.close(); err != nil {
			return driver.Record{}, taken{}, err
		}
		latest.Expires = 0
		set(latest)
	}
}

// takeLocks locks a number for its process, or gives errLocked; and its row, or gives
// errBusy.
func (d directory) takeLocks(number int64) (taken, error) {
	process, err := d.tryLock(aliveName(number))
	if err != nil {
		return taken{}, err
	}
	name := lockName(number)
	lock, err := d.tryLock(name)
	if errors.Is(err, errLocked) {
		err = errBusy
	}
	if err != nil {
		return taken{}, errors.Join(err, process.Close())
	}
	return taken{process, changing{d, name, lock}}, nil
}
