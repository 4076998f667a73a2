package driver

import "context"

// A Store keeps the records of worker IDs. Its methods are safe for concurrent use, and return when
// ctx is done. After an error that is not listed below, the request may or may not have been
// carried out, or may be carried out later; so every method can be repeated.
//
// Each method does what the Decide method of its argument says, in one atomic step. It writes only
// if what it has read is unchanged, and if the server that writes has the recorded incarnation. The
// write itself must check both.
//
// A store that only one generator uses may be an [OwnedStore], and is closed with it.
type Store interface {
	// Claim leases one worker ID to the holder of c.ClaimID; see [Claim.Decide].
	//
	// The errors are *core.ConfigError, [*LayoutError], [*WindowError], [*SkewError],
	// [*NoWorkerIDError], [*FloorError], and the store's own. Of those, [Permanent] marks the
	// ones that are not retryable.
	Claim(ctx context.Context, c Claim) (Lease, error)

	// Renew raises the fence of a lease; see [Renewal.Decide]. It returns [ErrNotHeld] if the
	// worker ID is no longer held under this claim, [ErrForgotten], which matches it, if the store
	// was put back to an earlier state, and [ErrLocked] if something else keeps the record locked:
	// the lease then claims another worker ID before its fence.
	Renew(ctx context.Context, r Renewal) (Lease, error)

	// Release frees the worker ID for the next claim, from r.Unused on; see [Release.Decide]. If
	// it is not held under this claim, for example because it was released before, it returns
	// [ErrNotHeld].
	Release(ctx context.Context, r Release) error
}

// An OwnedStore is a Store that only one generator uses. Its CloseWithGenerator is called after the
// generator's Close or a failed worker.Open, when nothing is left to release.
type OwnedStore interface {
	Store
	CloseWithGenerator() error
}

// Admin has the methods of a store that operators need. The stores of this module implement it.
type Admin interface {
	// List returns the namespace with the records of all worker IDs that were ever held, sorted by
	// worker ID. A missing namespace has none.
	List(ctx context.Context, namespace string) (State, error)
	// Free takes a worker ID from its holder if it is held under the fencing token, and returns
	// [ErrNotHeld] otherwise. The fence does not change, so a holder that is still alive is harmless: it
	// issues ids up to the fence, and the next claim starts there, once the fence has passed.
	Free(ctx context.Context, namespace string, worker, fencingToken int64) error
	// Raise raises the floor of a namespace above every fence that its store may ever have had,
	// and, unless fenceWindow is 0, changes its FenceWindow. See [State.Raise].
	Raise(ctx context.Context, namespace string, fenceWindow int64) (Namespace, error)
}

// A Counter reserves numbers for each key, from 1 on, and never the same number twice. Reserve takes
// the n numbers first to first+n-1. After an error, numbers may be taken but never used.
// [CheckReservation] has the rules for a key and n. A store may implement Counter for package
// serial and worker.FromCounter.
//
// No floor protects a count. So a counter must not lose what it has acknowledged, and returns a
// [*DurabilityError] if a setting of its store allows that.
type Counter interface {
	Reserve(ctx context.Context, key string, n int64) (first int64, err error)
}
