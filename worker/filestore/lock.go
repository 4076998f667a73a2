package filestore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// claimLock is the lock file of the process that claims.
const claimLock = "lock"

// lockedDirectory is a directory in which only this process changes what the lock protects: a
// record, or the layout.
type lockedDirectory struct {
	directory
	name string // of the lock file
	lock *os.File
}

// errLocked is returned by tryLock if the lock is taken.
var errLocked = errors.New("filestore: locked")

// tryLock takes a lock file if it is free. The lock is held until the file is closed or the
// process ends.
func (d directory) tryLock(name string) (*os.File, error) {
	for {
		f, err := os.OpenFile(d.join(name), os.O_RDWR|os.O_CREATE, 0o640)
		if err != nil {
			return nil, fmt.Errorf("filestore: %w", err)
		}
		if err := flock(f); err != nil {
			_ = f.Close()
			return nil, err
		}
		// If the file was removed in between, the lock excludes no other process.
		current, err := sameFile(f, d.join(name))
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		if current {
			return f, nil
		}
		if err := f.Close(); err != nil {
			return nil, fmt.Errorf("filestore: %w", err)
		}
	}
}

// locked calls f with the lock, and waits for it until ctx is done.
func (d directory) locked(ctx context.Context, name string, f func(lockedDirectory) error) error {
	for tried := false; ; tried = true {
		switch err := ctx.Err(); {
		case err != nil && tried:
			return fmt.Errorf("filestore: %s is locked by another process, which may be stopped: %w", d.join(name), err)
		case err != nil:
			return err
		}
		lock, err := d.tryLock(name)
		if err == nil {
			return errors.Join(f(lockedDirectory{d, name, lock}), lock.Close())
		}
		if !errors.Is(err, errLocked) {
			return err
		}
		pause(ctx)
	}
}

// pause waits before a lock is tried again.
func pause(ctx context.Context) {
	select {
	case <-time.After(2 * time.Millisecond):
	case <-ctx.Done():
	}
}

// sameFile reports whether the file of that name is the one that is open.
func sameFile(f *os.File, name string) (bool, error) {
	opened, err := f.Stat()
	if err != nil {
		return false, fmt.Errorf("filestore: %w", err)
	}
	named, err := os.Stat(name)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("filestore: %w", err)
	}
	return os.SameFile(opened, named), nil
}
