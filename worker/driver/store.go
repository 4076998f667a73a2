package driver

import "context"

// A Store keeps the records of worker IDs. Its methods may be called by many goroutines,
// and return when ctx is done. After an error that is not listed below, the request may
// or may not have been carried out, or may be carried out later; so every method can be
// repeated.
//
// A store may also have a method Warnings(context.Context) ([]string, error), about
// settings that might make it lose a write. worker.Open reports these texts, and
// snowkey doctor shows them.
//
// A store that only one generator uses may have a method CloseWithGenerator() error. It is
// called when nothing is left to release, after the generator's Close or a failed worker.Open.
//
// A store embeds a [Limiter], so that the leases that share it limit their rate of
// requests while it fails, and of claims while it refuses them.
type Store interface {
	// Claim gives one free worker ID of the namespace to the holder of r.ClaimID. Free is one
	// that was never held, was released, or whose time to live has ended by the store's own
	// clock. In one step, its record becomes that of r.Grant, with a higher fencing token
	// and the claim ID. If a record has the claim ID already, because the first answer was
	// lost, Claim returns r.Replay of that record and changes nothing, whatever else r asks for.
	//
	// Claim compares the layouts and the clocks ([Request.CheckSkew]) before it looks for the
	// claim ID or a free worker ID: for a lease, a *NoWorkerIDError means that they agree.
	//
	// The errors are *core.ConfigError, [*LayoutError], [*SkewError], [*NoWorkerIDError],
	// [*DurabilityError], and the store's own. Of those, [Permanent] marks the ones that
	// a retry cannot mend.
	Claim(ctx context.Context, r Request) (Claim, error)

	// Renew raises the fence to r.Fence and restarts the time to live, if the record still
	// has this fencing token and claim ID, even if its time to live has ended. It never
	// lowers the fence. [ErrNotHeld] says that the worker ID is not held any more, and a
	// [*DurabilityError] that the store may lose the renewal.
	Renew(ctx context.Context, r Renewal) error

	// Release frees the worker ID and sets its fence to r.Fence, which may be lower than
	// before, if the record still has this fencing token and claim ID. Otherwise it returns
	// [ErrNotHeld], for example because the worker ID was released before.
	Release(ctx context.Context, r Return) error
}

// Admin is what operators need of a store. The stores of this module implement it.
type Admin interface {
	// List returns the records of a namespace, ordered by worker ID. A worker ID that was
	// never held has no record.
	List(ctx context.Context, namespace string) ([]Record, error)
	// Free takes a worker ID from its holder if the record has this fencing token, and
	// returns [ErrNotHeld] otherwise. The fence stays, so a holder that is still alive is
	// harmless: it issues ids up to the fence, and the next claim starts there.
	Free(ctx context.Context, namespace string, worker, fencingToken int64) error
}

// A Counter reserves numbers, from 1 on for each key, and never the same number twice: Reserve
// takes the n numbers first to first+n-1. After an error, numbers may be taken and are
// never used. [CheckReservation] has the rules for a key and n. A store may implement it, for
// package serial and worker.FromCounter.
type Counter interface {
	Reserve(ctx context.Context, key string, n int64) (first int64, err error)
}
