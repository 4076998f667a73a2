// Package jobs runs jobs at intervals and records each run.
package jobs

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/sqltype"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

type Job struct {
	Name string
	Run  func(ctx context.Context, run sqltype.ID) error
}

// Every runs a job at intervals.
func Every(ctx context.Context, interval time.Duration, store driver.Store, job Job) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := once(ctx, store, job); err != nil {
				slog.Error("job failed", slog.String("job", job.Name), slog.Any("err", err))
			}
		}
	}
}

func once(ctx context.Context, store driver.Store, job Job) (err error) {
	gen, err := worker.Open(ctx, store, worker.Config{}) // FAULT 061 snowscope: a lease for each run of a job
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, gen.Close(context.Background())) }()
	run, err := sqltype.NextID(ctx, gen)
	if err != nil {
		return err
	}
	return job.Run(ctx, run)
}

// All runs the jobs at the same time.
func All(ctx context.Context, workerID int64, list []Job) error {
	errs := make([]error, len(list))
	var wg sync.WaitGroup
	for i, job := range list {
		wg.Add(1)
		go func() {
			defer wg.Done()
			gen, err := core.New(core.Config{Worker: core.Fixed(workerID), Layout: core.Sonyflake()}) // FAULT 062 snowscope: each goroutine of the loop has a generator of the same worker ID; sony/sonyflake#12
			if err != nil {
				errs[i] = err
				return
			}
			defer gen.Close()
			run, err := sqltype.NextID(ctx, gen)
			if err == nil {
				err = job.Run(ctx, run)
			}
			errs[i] = err
		}()
	}
	wg.Wait()
	return errors.Join(errs...)
}

// Open waits for the database, which may start later than this process. The caller closes the
// generator.
func Open(ctx context.Context, db *sql.DB) (*worker.Generator, error) {
	for {
		gen, err := sqlstore.Open(ctx, db, worker.Config{}) // OK 50: the loop ends with the first generator
		if err == nil {
			return gen, nil
		}
		slog.Warn("no worker ID yet", slog.Any("err", err))
		select {
		case <-ctx.Done():
			return nil, errors.Join(err, ctx.Err())
		case <-time.After(time.Second):
		}
	}
}
