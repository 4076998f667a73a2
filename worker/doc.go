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
// a process is paused, and whichever requests and answers are lost, late or repeated. For each
// worker ID the store records a fence: the instant up to which ids may be issued. The holder
// raises it before its ids reach it, and the next holder starts at the fence.
//
// This holds also if the store forgets what it has acknowledged: after a failover to a replica
// that lacks the last writes, a restore, a crash without a flushed log, or when somebody has
// emptied its tables. Then another server, or another life of it, answers, and claims start above
// every fence that may be forgotten: up to 40 seconds ahead of the clock, with the defaults. A
// lease that is renewed in time notices nothing, except that the observer gets [StoreChanged].
//
// While the store does not answer, ids continue for at least FenceWindow − RenewInterval, 20
// seconds by default. Then calls fail at once with core.ErrFenced, which wraps a
// [*RetryError]. Ids resume by themselves, at most half a second and one request after the
// store is back. When a worker ID is lost, the generator claims another one, and continues
// under it. [Generator.Failing] says what fails and since when.
//
// After Close a worker ID is free at once, and after a crash when its fence has passed by
// Config.MaxSkew: 40 seconds after the last renewal.
//
// # Limits
//
// Uniqueness rests on these conditions:
//
//   - A server of the store that was succeeded by another acknowledges nothing any more: no
//     split brain.
//   - The clocks of a server and of its successor differ by at most Config.MaxSkew, and so do
//     a server's before and after a restart. Clocks of generators may show anything: a claim is
//     refused if this machine's clock and the store's differ by more.
//   - What an operator has raised by snowkey workers floor or window, and a floor that is still
//     ahead of the clock, is not forgotten.
//   - A holder's memory is not copied while it runs: no fork, and no restored or cloned
//     snapshot of a running machine; nor is the memory of a server of the store.
//   - All generators of the namespace have its layout, and no other program makes ids for
//     the same tables.
//   - A file of SQLite is not overwritten in place while a program uses it.
//   - The layout's time has not ended.
//
// # Assigned worker IDs
//
// [FromEnv], [FromFile] and [FromPodIP] read a worker ID that was assigned
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
