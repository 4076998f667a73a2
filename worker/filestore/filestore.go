// Package filestore keeps worker leases in a directory, for the processes of one
// host. It needs no server.
//
// Its second use is to give a number that somebody else has assigned, by
// environment, file or ordinal, a durable bound: see worker.Protect. Then a
// restart with a clock that went back issues no id again.
//
// A number is held as long as its process lives, by a lock (flock) that the kernel
// takes back when the process ends, however it ends: so the next start has it at
// once, and no time to live counts. What is written is flushed to the disk before
// it counts, and replaces what was there in one step.
//
// Each number's row has a lock of its own. A process that is stopped (SIGSTOP) in
// the middle of a renewal holds up nobody else; one that is stopped in the middle of
// a claim holds up other claims, which fail when their context is done, and no renewal.
//
// The directory must lie on a local disk that keeps what is flushed to it. It
// must not be copied while in use, nor shared by hosts over a network file system.
// No file in it may be removed by anybody else, the lock files included, however old
// they are: so /tmp, or whatever else is cleaned, is no place for it. A store
// that finds its files gone fails; it does not begin anew.
// It works on Linux, macOS and the BSDs; elsewhere a claim is an error.
package filestore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/seed-299c1d6b/snowkey/internal/fields"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/internal/bounded"
)

// Config is what a store is made of.
type Config struct {
	// Dir is required; it is created, its parent must be there. A relative one is
	// taken from where the process is when New is called.
	Dir string
}

// Store keeps the numbers of any number of spaces. Make it with New; any number of
// stores may use one directory, in one process or in many.
type Store struct {
	driver.ClaimLimiter // of the leases that share the store

	dir   string
	calls bounded.Calls

	mu     sync.Mutex
	alive  map[place]held // the locks that say that this process lives
	closed bool
}

// place is one number of one space.
type place struct {
	space  string
	number int64
}

// held is what was claimed of it.
type held struct {
	lock  *os.File
	epoch int64
}

var (
	_ driver.Store = (*Store)(nil)
	_ driver.Admin = (*Store)(nil)
)

// New returns a store, or a *core.ConfigError. It does not touch the directory: the first
// claim creates it.
func New(cfg Config) (*Store, error) {
	var wrong fields.Errors
	if cfg.Dir == "" {
		wrong.Add("Dir", cfg.Dir, "must be a directory on a local disk")
	}
	dir, err := filepath.Abs(cfg.Dir) // a daemon may change its working directory later
	if err != nil {
		wrong.Add("Dir", cfg.Dir, "must be an absolute path: %v", err)
	}
	if err := wrong.Err("filestore"); err != nil {
		return nil, err
	}
	return &Store{dir: dir, alive: make(map[place]held)}, nil
}

// check returns an error unless New made the store.
func (s *Store) check() error {
	if s == nil || s.dir == "" {
		return fields.Error("filestore", "Store", nil, "must come from filestore.New")
	}
	return nil
}

// errGone is not worker.ErrNotHeld: somebody who claims where nothing is recorded may
// begin below the bound of the number that is held.
func (s *Store) errGone(space string, number int64) error {
	return driver.Permanent(fmt.Errorf("filestore: number %d is held and its files in %s have been removed or replaced: end all processes that use it, and wait for their Window, before you start one again", number, s.path(space)))
}

var errClosed = driver.Permanent(errors.New("filestore: the store is closed"))

// Close lets go of all numbers as the end of the process would. Their rows stay as
// they are; what is released by its lease needs no Close.
func (s *Store) Close() error {
	if s == nil {
		return s.check()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	var errs []error
	for at, h := range s.alive {
		errs = append(errs, h.lock.Close())
		delete(s.alive, at)
	}
	return errors.Join(errs...)
}

// keep remembers the lock of a number that was claimed.
func (s *Store) keep(at place, h held) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errors.Join(errClosed, h.lock.Close())
	}
	s.alive[at] = h
	return nil
}

// holds gives the epoch in which this store holds a number, or 0.
func (s *Store) holds(space string, number int64) (epoch int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.alive[place{space, number}].epoch
}

// heldIn gives a number of the space that this store holds, or -1.
func (s *Store) heldIn(space string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	for at := range s.alive {
		if at.space == space {
			return at.number
		}
	}
	return -1
}

// letGo closes the lock of a number, if there is one.
func (s *Store) letGo(space string, number int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	h, ok := s.alive[place{space, number}]
	if !ok {
		return nil
	}
	delete(s.alive, place{space, number})
	return h.lock.Close()
}

// Renew implements worker.Store.
func (s *Store) Renew(ctx context.Context, r driver.Renewal) error {
	return s.change(ctx, r.Namespace, r.Worker, func(row *driver.Record) error {
		if row.FencingToken != r.FencingToken || row.ClaimID != r.ClaimID || r.ClaimID == "" {
			return driver.ErrNotHeld
		}
		row.Fence = max(row.Fence, r.Fence)
		row.Expires = driver.Expiry(time.Now().UnixMilli(), r.TTL)
		return nil
	})
}

// Release implements worker.Store.
func (s *Store) Release(ctx context.Context, r driver.Return) error {
	return s.change(ctx, r.Namespace, r.Worker, func(row *driver.Record) error {
		if row.FencingToken != r.FencingToken || row.ClaimID != r.ClaimID || r.ClaimID == "" {
			return driver.ErrNotHeld
		}
		row.ClaimID, row.Fence, row.Expires = "", r.Fence, 0
		return nil
	})
}

// change rewrites the row of a number. This process's lock is let go of when the
// number is not its own any more.
func (s *Store) change(ctx context.Context, space string, number int64, edit func(*driver.Record) error) error {
	if err := driver.CheckNamespace(space); err != nil {
		return err
	}
	if err := s.check(); err != nil {
		return err
	}
	return bounded.Run(ctx, &s.calls, fmt.Sprintf("filestore: change number %d in %s", number, s.path(space)), func() error {
		return s.changeRow(ctx, space, number, edit)
	})
}

func (s *Store) changeRow(ctx context.Context, space string, number int64, edit func(*driver.Record) error) error {
	missing := func() error {
		if s.holds(space, number) > 0 {
			return s.errGone(space, number)
		}
		return driver.ErrNotHeld
	}
	d := directory{path: s.path(space)}
	if _, err := os.Stat(d.join(rowName(number))); errors.Is(err, os.ErrNotExist) { // nor make a lock for it
		return missing()
	}
	return d.locked(ctx, lockName(number), func(d changing) error {
		row, err := d.read(number)
		if errors.Is(err, os.ErrNotExist) {
			return missing()
		}
		if err != nil {
			return err
		}
		if row.FencingToken < s.holds(space, number) { // an epoch never goes back
			return s.errGone(space, number)
		}
		token := row.ClaimID
		if err := edit(&row); err != nil {
			if token == "" { // an operator has freed it; else it may be this process's own, and the request stale
				return errors.Join(err, s.letGo(space, number))
			}
			return err
		}
		if err := d.write(row); err != nil {
			return err
		}
		if row.ClaimID == "" {
			return s.letGo(space, number)
		}
		return nil
	})
}

// path is the directory of a space. File systems may take A for a, and a dot or a
// slash for something else.
func (s *Store) path(space string) string {
	var name []byte
	for _, c := range []byte(space) {
		if 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_' {
			name = append(name, c)
		} else {
			name = fmt.Appendf(name, "=%02x", c)
		}
	}
	return filepath.Join(s.dir, string(name))
}

// prepare makes the directory of a space.
func (s *Store) prepare(space string) error {
	if err := s.check(); err != nil {
		return err
	}
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed {
		return errClosed
	}
	if number := s.heldIn(space); number >= 0 {
		if _, err := os.Stat(s.path(space)); errors.Is(err, os.ErrNotExist) {
			return s.errGone(space, number)
		}
	}
	for _, dir := range []string{s.dir, s.path(space)} {
		err := os.Mkdir(dir, 0o750)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("filestore: %w; the folder above it must be there, and this user must be allowed to write in it", err)
		}
		if err := syncDir(filepath.Dir(dir)); err != nil {
			return err
		}
	}
	return nil
}
