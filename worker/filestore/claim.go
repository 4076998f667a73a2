package filestore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// Claim implements driver.Store.
func (s *Store) Claim(ctx context.Context, r driver.Request) (driver.Claim, error) {
	if err := r.Validate(); err != nil {
		return driver.Claim{}, err
	}
	c, err := call(ctx, s, "claim in", r.Namespace, func(d directory) (driver.Claim, error) { return s.claimWhenFree(ctx, d, r) })
	return c, markPermanent(err)
}

// markPermanent marks errors that last until somebody changes the file system: it is
// read-only or has no locks, say. A full disk is not one of them.
func markPermanent(err error) error {
	for _, refusal := range []error{fs.ErrNotExist, fs.ErrPermission, syscall.ENOTDIR, errReadOnly, errors.ErrUnsupported} {
		if errors.Is(err, refusal) {
			return driver.Permanent(err)
		}
	}
	return err
}

// claimWhenFree waits while other processes claim, or change the only record that is free.
func (s *Store) claimWhenFree(ctx context.Context, d directory, r driver.Request) (driver.Claim, error) {
	if err := s.prepare(r.Namespace); err != nil {
		return driver.Claim{}, err
	}
	var c driver.Claim
	for busy := false; ; {
		err := d.locked(ctx, claimLock, func(d lockedDirectory) (err error) {
			c, err = s.claim(d, r)
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
		pause(ctx)
	}
}

// prepare creates the directory of a namespace.
func (s *Store) prepare(namespace string) error {
	s.mu.Lock()
	held, closed := int64(-1), s.closed
	for k := range s.claims {
		if k.namespace == namespace {
			held = k.workerID
		}
	}
	s.mu.Unlock()
	if closed {
		return errClosed
	}
	if held >= 0 {
		if _, err := os.Stat(s.path(namespace)); errors.Is(err, os.ErrNotExist) {
			return s.errRemoved(key{namespace, held})
		}
	}
	for _, dir := range []string{s.dir, s.path(namespace)} {
		err := os.Mkdir(dir, 0o750)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("filestore: %w; its parent directory must exist, and this user must be allowed to write to it", err)
		}
		if err := syncDirectory(filepath.Dir(dir)); err != nil {
			return err
		}
	}
	return nil
}

// claim runs while no other process claims. Processes that hold worker IDs can renew them.
func (s *Store) claim(d lockedDirectory, r driver.Request) (driver.Claim, error) {
	now := time.Now().UnixMilli()
	if err := d.checkLayout(r); err != nil {
		return driver.Claim{}, err
	}
	if err := r.CheckSkew(now); err != nil {
		return driver.Claim{}, err
	}
	records, err := d.records()
	if err != nil {
		return driver.Claim{}, err
	}
	if i := slices.IndexFunc(records, func(rec driver.Record) bool { return rec.ClaimID == r.ClaimID }); i >= 0 && s.fencingToken(key{r.Namespace, records[i].Worker}) > 0 {
		return r.Replay(records[i]), nil
	}
	rec, locks, err := lockFree(d.directory, r, records, now)
	if err != nil {
		return driver.Claim{}, err
	}
	rec, c := r.Grant(rec, now)
	if err := locks.record.write(rec); err != nil {
		return driver.Claim{}, errors.Join(err, locks.close())
	}
	return c, errors.Join(s.add(key{r.Namespace, c.Worker}, claim{locks.process, c.FencingToken}), locks.record.lock.Close())
}

// errBusy is returned if the record of the only free worker ID is locked.
var errBusy = errors.New("filestore: the only free worker ID is being changed by another process, which may be stopped")

// locks are the two locks of a worker ID that is claimed.
type locks struct {
	process *os.File        // held until the process ends, or drops the claim
	record  lockedDirectory // held while the record is written
}

func (l locks) close() error { return errors.Join(l.process.Close(), l.record.lock.Close()) }

// lockFree finds a worker ID that no process holds, locks it, and returns its record as it is
// under the lock.
func lockFree(d directory, r driver.Request, records []driver.Record, now int64) (driver.Record, locks, error) {
	for i := range records { // only the lock says whether it is held
		records[i].Expires = 0
	}
	set := func(rec driver.Record) {
		if i := slices.IndexFunc(records, func(have driver.Record) bool { return have.Worker == rec.Worker }); i >= 0 {
			records[i] = rec
		} else {
			records = append(records, rec)
		}
	}
	busy := false
	for {
		free, err := driver.Candidates(r, records, now, nil)
		if busy && errors.Is(err, driver.ErrNoWorkerID) {
			err = errBusy
		}
		if err != nil {
			return driver.Record{}, locks{}, err
		}
		rec := free[0]
		l, err := d.lockWorkerID(rec.Worker)
		switch {
		case errors.Is(err, errBusy), errors.Is(err, errLocked):
			busy = busy || errors.Is(err, errBusy)
			set(driver.Record{Worker: rec.Worker, FencingToken: rec.FencingToken, ClaimID: "held", Fence: rec.Fence, Expires: driver.NoTTL})
			continue
		case err != nil:
			return driver.Record{}, locks{}, err
		}
		// It may have been renewed or released since it was read.
		latest, err := d.read(rec.Worker)
		switch {
		case errors.Is(err, os.ErrNotExist) && rec.FencingToken == 0:
			return rec, l, nil
		case err != nil:
			return driver.Record{}, locks{}, errors.Join(err, l.close())
		case latest.FencingToken == rec.FencingToken && latest.Fence == rec.Fence:
			return latest, l, nil
		}
		if err := l.close(); err != nil {
			return driver.Record{}, locks{}, err
		}
		latest.Expires = 0
		set(latest)
	}
}

// lockWorkerID takes the two locks of a worker ID. It returns errLocked if a process holds the
// worker ID, and errBusy if one changes its record.
func (d directory) lockWorkerID(workerID int64) (locks, error) {
	process, err := d.tryLock(processLock(workerID))
	if err != nil {
		return locks{}, err
	}
	name := recordLock(workerID)
	lock, err := d.tryLock(name)
	if errors.Is(err, errLocked) {
		err = errBusy
	}
	if err != nil {
		return locks{}, errors.Join(err, process.Close())
	}
	return locks{process, lockedDirectory{d, name, lock}}, nil
}
