package filestore

import (
	"context"
	"errors"
	"os"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/internal/bounded"
)

// List implements worker.Admin. A row whose process has ended is shown as free.
func (s *Store) List(ctx context.Context, space string) ([]driver.Record, error) {
	if err := driver.CheckNamespace(space); err != nil {
		return nil, err
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	return bounded.Do(ctx, &s.calls, "filestore: list "+s.path(space), func() ([]driver.Record, error) { return s.list(ctx, space) })
}

func (s *Store) list(ctx context.Context, space string) (rows []driver.Record, err error) {
	if _, err := os.Stat(s.path(space)); errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	err = directory{path: s.path(space)}.locked(ctx, spaceLock, func(d changing) error {
		if rows, err = d.rows(); err != nil {
			return err
		}
		for i := range rows {
			lock, err := d.tryLock(aliveName(rows[i].Worker))
			switch {
			case err == nil:
				rows[i].Expires = 0
				if err := lock.Close(); err != nil {
					return err
				}
			case errors.Is(err, errLocked):
				rows[i].Expires = driver.NoTTL
			default:
				return err
			}
		}
		return nil
	})
	return rows, err
}

// Free implements worker.Admin. A process that lives keeps its lock until its next
// renewal, which tells it.
func (s *Store) Free(ctx context.Context, space string, number, epoch int64) error {
	return s.change(ctx, space, number, func(row *driver.Record) error {
		if row.FencingToken != epoch || row.ClaimID == "" {
			return driver.ErrNotHeld
		}
		row.ClaimID, row.Expires = "", 0
		return nil
	})
}
