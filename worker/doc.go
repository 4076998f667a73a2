// Package worker gives generators their worker numbers. Two generators whose ids
// meet must not have one number at the same instant of ids' time. [Acquire] sees
// to that with the database you have:
//
//	lease, err := worker.Acquire(ctx, sqlstore.New(db, sqlstore.Config{}), worker.Config{})
//	if err != nil {
//		return err
//	}
//	defer lease.Close()
//	gen, err := core.New(core.Config{Worker: lease})
//
// With a database, one call does both: sqlstore.Open for a *sql.DB, pgxstore.Open for a
// *pgxpool.Pool, gormplugin.Open for a *gorm.DB.
//
// Nothing is configured per process, and a number comes free when its process
// ends: at once after Release, and after Config.TTL when it crashed; in a filestore
// at once as well. Where datacenters have stores of their own, Config.Datacenter
// keeps their numbers apart.
//
// A lease serves one generator after the other. When one is closed, the next
// core.New goes on under the same number, behind the last id, without asking the
// store, unless the clock has leapt by a minute.
//
// # What is guaranteed
//
// No two generators of one space issue the same id, whatever their clocks do,
// however long a process stands still, whichever requests and answers are lost,
// late or doubled, and whoever takes a number from whom. A time to live alone
// cannot guarantee that: a process that was paused for longer wakes up and issues
// under a number that is another's by now.
//
// What can is a fence. For each number the store keeps a bound, `until`. A claim
// begins at the bound it finds, or at the claimant's clock if that is later, and
// raises the bound by Config.FenceWindow, in one compare-and-set. The holder issues ids
// only below the bound, and raises it only after the store has acknowledged a
// renewal, which names the claim. So whoever comes next begins where the holder
// before must end, and need not know whether it is still there. Release closes the
// generator's run, and then sets the bound back to just behind its last id. Whether
// the answer to that arrives or not, no id is issued under the claim from then on.
//
// It rests on five things, and on nothing about time:
//
//   - The store loses no write that it has acknowledged. The stores refuse
//     settings known to allow that.
//   - A holder's memory is not copied while it runs: no fork, no restored or cloned
//     snapshot of a running machine. Two copies hold one claim: they issue the
//     same ids to the end of the span, and go on as long as both renew it. End
//     both, or free the number with [Admin]: both then claim others.
//   - All generators of the space have one layout, which the space keeps, and
//     nobody makes ids of that layout for the same tables without it.
//   - A generator issues each place once: package core does.
//   - The layout's time has not run out.
//
// # When something fails
//
// While the store does not answer, ids continue for at least FenceWindow − RenewInterval, 20
// seconds, less what they are ahead of the clock. The lease repeats its request with
// delays of at most half a second. Then ids reach the fence, and Next fails at once with
// core.ErrFenced, which wraps a [*RetryError]: why, and since when. Next does not wait,
// because its caller may hold the connection that the renewal needs. Ids resume when the
// store is back, at most half a second and one request later.
//
// One goroutine of the lease makes its requests, one at a time, each for at most
// Config.Timeout. A call for an id, Acquire and Release wait for the outcome as long as
// their context and MaxWait allow. The request continues when they give up, and a claim
// that the store then grants is used by the next call, or released.
//
// When the number is lost, ids continue below its bound, and under another number
// as soon as one is claimed. With Config.StopOnLoss they end there.
//
// A wall clock that goes back has no effect. A leap ahead by less than a minute is
// followed within half a second. After a larger leap, as when a machine wakes up, the
// lease asks the store for its clock first; ids continue on the monotonic clock
// meanwhile. A claim compares this machine's clock with the store's, and is refused if
// they are farther apart than Config.MaxSkew.
//
// A new holder may begin ahead of the clock: by at most Window after a crash that
// was noticed early, by nothing after Release. [Config.MaxLead] bounds it.
//
// # Assigned worker IDs
//
// [FromEnv], [FromFile], [FromOrdinal] and [FromPodIP] read a worker ID that was assigned
// from outside, and [FromCounter] takes the next one of a counter. A [core.Fixed] of it has
// no memory beyond the process. A lease of exactly that worker ID has:
//
//	id, err := worker.FromEnv(layout, "WORKER", "DATACENTER")
//	…
//	lease, err := worker.Acquire(ctx, store, worker.Config{Layout: layout, Preferred: &id, RequirePreferred: true})
//
// On one host, a filestore does for it.
//
// The package and its stores import the standard library and package core only.
// The stores are memstore, filestore, sqlstore and redisstore, etcdstore in a module
// of its own, and httpstore, which offers any of them over HTTP; any other passes
// the suite in storetest. Package pgxstore, which imports pgx, is sqlstore over its pool.
package worker
