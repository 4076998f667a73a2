// Package filestore keeps leases of worker IDs in a directory, for the processes of one host.
// It needs no server:
//
//	store, err := filestore.New(filestore.Config{Dir: "/var/lib/app/leases"})
//	if err != nil {
//		return err
//	}
//	gen, err := worker.Open(ctx, store, worker.Config{})
//
// It also gives a durable fence to a worker ID that is assigned from outside, by an
// environment variable, a file or an ordinal: set worker.Config.Preferred and
// RequirePreferred. Then a restart after the clock went back issues no ID twice.
//
// # Guarantees
//
// A process holds a worker ID by a lock (flock), which the kernel releases when the process
// ends, however it ends. So the next start has the worker ID at once, and the time to live
// has no effect. A record is flushed to the disk before it counts, and replaces the record
// before it in one step.
//
// Each record has a lock of its own. A process that is stopped (SIGSTOP) during a renewal
// delays no other process. One that is stopped during a claim delays other claims, which fail
// when their contexts are done, and no renewal.
//
// # Limits
//
// The directory must be on a local disk that keeps what is flushed to it. Do not copy it while
// it is in use, and do not share it between hosts over a network file system. Nothing else may
// remove a file in it, not even an old lock file, so do not put it in /tmp or in any other
// directory that is cleaned. A store whose files are gone fails; it does not start afresh.
//
// It works on Linux, macOS and the BSDs. On other systems, every claim is an error.
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
)

// Config configures a Store.
type Config struct {
	// Dir is the directory, and is required. The first claim creates it; its parent must
	// exist. A relative path is relative to the working directory at the time of New.
	Dir string
}

// A Store keeps the records of any number of namespaces in one directory. Make it with New;
// every method of a nil or zero Store returns a *core.ConfigError. Any number of stores may
// use a directory, in one process or in many. All methods are safe for concurrent use.
type Store struct {
	driver.ClaimLimiter

	dir   string
	calls driver.Calls

	mu     sync.Mutex
	claims map[key]claim // the claims of this process
	closed bool
}

// key names a worker ID.
type key struct {
	namespace string
	workerID  int64
}

// claim is a worker ID that this process holds.
type claim struct {
	lock         *os.File // the kernel releases it when the process ends
	fencingToken int64
}

var (
	_ driver.Store = (*Store)(nil)
	_ driver.Admin = (*Store)(nil)
)

// New returns a store, or a *core.ConfigError. It does not touch the directory.
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
	return &Store{dir: dir, claims: make(map[key]claim)}, nil
}

// check returns an error unless New made the store.
func (s *Store) check() error {
	if s == nil || s.dir == "" {
		return fields.Error("filestore", "Store", nil, "must come from filestore.New")
	}
	return nil
}

// call calls f with the directory of a namespace. It returns when its context is done, even if
// the disk hangs.
func call[T any](ctx context.Context, s *Store, what, namespace string, f func(directory) (T, error)) (none T, err error) {
	if err := driver.CheckNamespace(namespace); err != nil {
		return none, err
	}
	if err := s.check(); err != nil {
		return none, err
	}
	d := directory{path: s.path(namespace)}
	return driver.Do(ctx, &s.calls, "filestore: "+what+" "+d.path, func() (T, error) { return f(d) })
}

var errClosed = driver.Permanent(errors.New("filestore: the store is closed"))

// errRemoved does not match driver.ErrNotHeld: a claim that finds no record may start before
// the fence of this worker ID.
func (s *Store) errRemoved(k key) error {
	return driver.Permanent(fmt.Errorf("filestore: the files of worker ID %d in %s were removed or replaced while it is held: stop all processes that use it, and wait for their FenceWindow before you start one", k.workerID, s.path(k.namespace)))
}

// Close ends all claims of this store, as the end of the process does. It does not change
// their records: a worker ID becomes free with its fence as it was. A lease that was released
// needs no Close. Every claim after Close is an error.
func (s *Store) Close() error {
	if err := s.check(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	var errs []error
	for k, c := range s.claims {
		errs = append(errs, c.lock.Close())
		delete(s.claims, k)
	}
	return errors.Join(errs...)
}

// add notes a claim of this process.
func (s *Store) add(k key, c claim) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errors.Join(errClosed, c.lock.Close())
	}
	s.claims[k] = c
	return nil
}

// drop ends a claim of this process, if there is one.
func (s *Store) drop(k key) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.claims[k]
	if !ok {
		return nil
	}
	delete(s.claims, k)
	return c.lock.Close()
}

// fencingToken returns that of a claim of this process, or 0.
func (s *Store) fencingToken(k key) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.claims[k].fencingToken
}

// Renew implements driver.Store.
func (s *Store) Renew(ctx context.Context, r driver.Renewal) error {
	return s.change(ctx, key{r.Namespace, r.Worker}, func(rec *driver.Record) bool { return r.Apply(rec, time.Now().UnixMilli()) })
}

// Release implements driver.Store.
func (s *Store) Release(ctx context.Context, r driver.Return) error {
	return s.change(ctx, key{r.Namespace, r.Worker}, r.Apply)
}

// Free implements driver.Admin. The process that holds the worker ID keeps its lock until its
// next renewal.
func (s *Store) Free(ctx context.Context, namespace string, workerID, fencingToken int64) error {
	return s.change(ctx, key{namespace, workerID}, func(rec *driver.Record) bool { return rec.Evict(fencingToken) })
}

// change applies a change to a record, if the change is allowed. If the worker ID is free
// afterwards, the process drops its claim.
func (s *Store) change(ctx context.Context, k key, apply func(*driver.Record) bool) error {
	_, err := call(ctx, s, fmt.Sprintf("change worker ID %d in", k.workerID), k.namespace, func(d directory) (struct{}, error) {
		return struct{}{}, s.changeRecord(ctx, d, k, apply)
	})
	return err
}

func (s *Store) changeRecord(ctx context.Context, d directory, k key, apply func(*driver.Record) bool) error {
	missing := func() error {
		if s.fencingToken(k) > 0 {
			return s.errRemoved(k)
		}
		return driver.ErrNotHeld
	}
	if _, err := os.Stat(d.join(recordFile(k.workerID))); errors.Is(err, os.ErrNotExist) { // do not create a lock file for it
		return missing()
	}
	return d.locked(ctx, recordLock(k.workerID), func(d lockedDirectory) error {
		rec, err := d.read(k.workerID)
		if errors.Is(err, os.ErrNotExist) {
			return missing()
		}
		if err != nil {
			return err
		}
		if rec.FencingToken < s.fencingToken(k) { // a fencing token never goes back
			return s.errRemoved(k)
		}
		free := rec.ClaimID == ""
		switch {
		case apply(&rec):
			if err := d.write(rec); err != nil {
				return err
			}
			if rec.ClaimID != "" {
				return nil
			}
			return s.drop(k)
		case free: // an operator has freed it
			return errors.Join(driver.ErrNotHeld, s.drop(k))
		default: // this process may hold it, and the request be an old one
			return driver.ErrNotHeld
		}
	})
}

// List implements driver.Admin. A worker ID whose process has ended is free.
func (s *Store) List(ctx context.Context, namespace string) ([]driver.Record, error) {
	return call(ctx, s, "list", namespace, func(d directory) ([]driver.Record, error) { return d.list(ctx) })
}

func (d directory) list(ctx context.Context) (records []driver.Record, err error) {
	if _, err := os.Stat(d.path); errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	err = d.locked(ctx, claimLock, func(d lockedDirectory) error {
		if records, err = d.records(); err != nil {
			return err
		}
		for i := range records {
			lock, err := d.tryLock(processLock(records[i].Worker))
			switch {
			case err == nil:
				records[i].Expires = 0
				if err := lock.Close(); err != nil {
					return err
				}
			case errors.Is(err, errLocked):
				records[i].Expires = driver.NoTTL
			default:
				return err
			}
		}
		return nil
	})
	return records, err
}
