// Package worker gives generators their worker numbers. Two generators whose ids
// meet must never have the same number at the same instant of ids' time.
// [Acquire] sees to that with the database you have:
//
//	lease, err := worker.Acquire(ctx, sqlstore.New(db, sqlstore.Config{}), worker.Config{})
//	if err != nil {
//		return err
//	}
//	defer lease.Release(context.Background())
//	gen, err := core.New(core.Config{Worker: lease})
//
// Nothing needs to be configured per process, and a number comes free again when
// its process ends.
package worker
