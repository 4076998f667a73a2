// Package worker leases worker IDs to generators, so that two generators whose ids must
// differ never have the same worker ID at the same time. The leases are in a database that you
// already have; nothing is configured per process:
//
//	gen, err := sqlstore.Open(ctx, db, worker.Config{Namespace: "orders"})
//	if err != nil {
//		return err
//	}
//	defer gen.Close(context.Background())
//	id, err := gen.Next(ctx)
//
// Packages pgxstore and redisstore have such an Open, too. Each returns a
// [*Generator]. A plugin of gormplugin has a generator after db.Use. The [Open] of this package
// takes any [driver.Store].
//
// # Guarantees
//
// No two generators of a namespace issue the same id, whatever their clocks do, however long
// a process is paused, and whichever requests and answers are lost, late or repeated. For each
// worker ID the store records a fence: the instant up to which ids may be issued. The holder
// raises it before its ids reach it, and the next holder starts at the fence.
//
// This also holds if the store forgets what it has acknowledged: after a failover to a replica
// that lacks the last writes, a restore, a crash without a flushed log, or emptied tables. The
// store detects this. Claims then start above every fence that may be forgotten: up to 40 seconds
// ahead of the clock, with the defaults. A lease that is renewed in time is not affected; the
// observer gets [FloorRaised].
//
// While the store does not answer, ids continue for at least FenceWindow − RenewInterval, 20
// seconds by default. Then calls fail at once with core.ErrFenced, which wraps a
// [*RetryError]. Ids resume by themselves, at most half a second and one request after the
// store is back. When a worker ID is lost, the generator claims another one, and continues
// under it. [Generator.Failing] says what fails and since when.
//
// After Close a worker ID is free at once. After a crash it is free when its fence has passed by
// Config.MaxSkew: 40 seconds after the last renewal, with the defaults.
//
// # Limits
//
// Uniqueness rests on these conditions:
//
//   - Once another server of the store has taken over, the old one acknowledges nothing more: no
//     split brain.
//   - A server's clock and its successor's differ by at most Config.MaxSkew, and so does a
//     server's clock before and after a restart. Generators' clocks may show anything: a claim
//     is refused if this machine's clock and the store's differ by more.
//   - The store does not forget what an operator has raised with snowkey workers floor or window,
//     nor a floor that is still ahead of the clock.
//   - The memory of a running holder, or of a running server of the store, is not copied: no
//     fork, and no restored or cloned snapshot of a running machine.
//   - All generators of the namespace have its layout, and no other program makes ids for
//     the same tables.
//   - An SQLite file is not overwritten in place while a program uses it.
//   - The layout's time has not ended.
//
// # Assigned worker IDs
//
// [FromEnv], [FromFile], [FromOrdinal] and [FromPodIP] read a worker ID that was assigned
// from outside, and [FromCounter] takes the next one from a counter. A [core.Fixed] with such a
// worker ID remembers nothing across restarts. A lease of exactly that worker ID does; on one
// host, an SQLite file is enough for it:
//
//	id, err := worker.FromEnv(layout, "WORKER", "DATACENTER")
//	…
//	gen, err := worker.Open(ctx, store, worker.Config{Layout: layout, Preferred: &id, RequirePreferred: true})
//
// # Stores
//
// The stores are memstore, sqlstore, pgxstore, redisstore, etcdstore (a separate module in
// contrib), and httpstore, which offers any of them over HTTP. Only pgxstore and etcdstore import
// other modules. Package driver is for authors of further stores.
package worker
