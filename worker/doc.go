// Package worker leases worker IDs to generators, so that two generators whose ids must
// differ never have the same worker ID at the same time. The database that you have does it;
// nothing is configured per process:
//
//	gen, err := sqlstore.Open(ctx, db, sqlstore.Config{Lease: worker.Config{Namespace: "orders"}})
//	if err != nil {
//		return err
//	}
//	defer gen.Close(context.Background())
//	id, err := gen.Next(ctx)
//
// The other stores of servers have such an Open. All return a [*Generator]. A plugin of gormplugin
// has one after db.Use. The [Open] of this package takes any [driver.Store].
//
// # Guarantees
//
// No two generators of a namespace issue the same id, whatever their clocks do, however long
// a process is paused, and whichever requests and answers are lost, late or repeated. A time
// to live cannot guarantee that, because a paused process wakes up and continues under a
// worker ID that has expired. A fence can. For each worker ID the store records the instant
// up to which ids may be issued. The holder raises this fence before its ids reach it, and
// the next holder starts at the fence.
//
// While the store does not answer, ids continue for at least FenceWindow − RenewInterval, 20
// seconds by default. Then calls fail at once with core.ErrFenced, which wraps a
// [*RetryError]. Ids resume by themselves, at most half a second and one request after the
// store is back. When a worker ID is lost, the generator claims another one, and continues
// under it. [Generator.Failing] says what fails and since when.
//
// After Close a worker ID is free at once, and after a crash when Config.TTL has passed.
//
// # Limits
//
// Uniqueness rests on these conditions, and on nothing about clocks:
//
//   - The store does not lose a write that it has acknowledged. The stores refuse settings
//     that are known to allow it.
//   - A holder's memory is not copied while it runs: no fork, and no restored or cloned
//     snapshot of a running machine.
//   - All generators of the namespace have its layout, and no other program makes ids for
//     the same tables.
//   - The layout's time has not ended.
//
// A claim fails if this machine's clock and the store's differ by more than Config.MaxSkew.
// Ids may begin ahead of the clock, by at most Config.MaxLead, if the holder before had a
// fast clock.
//
// # Assigned worker IDs
//
// [FromEnv], [FromFile], [FromOrdinal] and [FromPodIP] read a worker ID that was assigned
// from outside, and [FromCounter] takes the next one of a counter. A [core.Fixed] of it
// remembers nothing after a restart. A lease of exactly that worker ID does; on one host, a file
// of SQLite is enough for it:
//
//	id, err := worker.FromEnv(layout, "WORKER", "DATACENTER")
//	…
//	gen, err := worker.Open(ctx, store, worker.Config{Layout: layout, Preferred: &id, RequirePreferred: true})
//
// # Stores
//
// The stores are memstore, sqlstore, pgxstore, redisstore, etcd (a module of its own in
// contrib), and httpstore, which offers any of them over HTTP. Only pgxstore and etcd import
// other modules. Package driver is for authors of further stores.
package worker
