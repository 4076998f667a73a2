package worker

import "context"

// A Store keeps, for each worker number of a space, who holds it and up to which
// instant ids may be issued under it. Each of its three verbs is one
// compare-and-set on one number's row. An acknowledged write must never be lost:
// that, and nothing about clocks, is what uniqueness rests on.
//
// All instants are Unix milliseconds, and all durations whole milliseconds, so
// that nothing is rounded on the way. Methods are called by many goroutines, and
// return when ctx is done. After an error that is not of the types below, the
// request may or may not have been carried out, now or later; every method can
// therefore be repeated.
//
// A store may also have a method Warnings(context.Context) ([]string, error), about settings
// that might lose a write. Acquire logs its texts, and snowkey doctor shows them.
//
// A store embeds a [Queue] to limit the rate of claims while they fail.
//
// Package storetest holds the suite that every store passes, also yours.
type Store interface {
	// Claim gives one free number of the space to the holder of r.Token: one that
	// was never held, was released, or whose holder's time to live is over by the
	// store's own clock. The row gets the bound `until` of r.Span, a higher epoch
	// and the token, in one step. A number that the token holds already is given
	// again, unchanged: its first answer was lost.
	//
	// The errors are [*LayoutError], [*SkewError], [*NoWorkerIDError],
	// [*DurabilityError], and whatever the store itself fails with. One of the last that has
	// a method Permanent() bool which gives true is not asked about again by Acquire:
	// somebody must mend something first, and its text says what.
	Claim(ctx context.Context, r Request) (Claim, error)

	// Renew raises the row's bound to r.Until and starts its time to live anew,
	// if the number still has this epoch and token: also when the time is over
	// already, as long as nobody has claimed it. A bound that is there already,
	// or a higher one, is kept. [ErrNotHeld] says that the number is another's.
	Renew(ctx context.Context, r Renewal) error

	// Release frees the number and sets its bound to r.Until, which may lie below
	// the bound before, if the number still has this epoch and token. [ErrNotHeld]
	// says that it has not, for example because it was released before.
	Release(ctx context.Context, r Return) error
}

// A Request is what Claim needs to know.
type Request struct {
	Namespace        string // which numbers; see [CheckNamespace]
	Layout           string // the layout's fingerprint, which the space keeps; another is a *LayoutError
	WorkerIDs        int64  // the space has the numbers 0 to Numbers-1
	Preferred        int64  // is given if it is free; -1: none
	RequirePreferred bool   // no number but Preferred will do
	Exclude          int64  // is not given; -1: none
	ClaimID          string // random, new for each claim, and the same when it is repeated
	Owner            string // who asks, for people to read
	Now              int64  // the holder's wall clock
	FenceWindow      int64  // how far beyond the beginning the bound shall lie
	TTL              int64  // how long after a claim or a renewal others may take the number; NoTTL: never
	MaxSkew          int64  // Now farther from the store's clock than this is a *SkewError
	MaxLead          int64  // a number whose span would begin farther ahead of Now is not given
}

// NoTTL is a time to live that does not end: only Release frees the number, or
// an operator by [Admin].
const NoTTL = 1 << 53

// A Claim is what Claim gives: the number and the span of time that the ids of
// this grant may carry.
type Claim struct {
	Worker       int64
	FencingToken int64 // counts the claims of this number, from 1 on
	From         int64 // the first instant
	Fence        int64 // the first instant beyond
}

// A Renewal is what Renew needs to know.
type Renewal struct {
	Namespace    string
	Worker       int64
	FencingToken int64
	ClaimID      string
	Fence        int64
	TTL          int64
}

// A Return is what Release needs to know.
type Return struct {
	Namespace    string
	Worker       int64
	FencingToken int64
	ClaimID      string
	Fence        int64 // the first instant that no id carries
}

// A Row is what a store keeps of one number.
type Record struct {
	Worker       int64
	FencingToken int64
	ClaimID      string // empty: free
	Owner        string // of the last claim
	Fence        int64  // no id carries this instant or a later one
	Expires      int64  // when others may take it, by the store's clock
}

// Admin is for operators. The stores of this module have it.
type Admin interface {
	// List gives the rows of a space, by number. Numbers never held have none.
	List(ctx context.Context, space string) ([]Record, error)
	// Free takes a number from its holder, if it is still of this epoch: else
	// ErrNotHeld. The bound stays, so even a holder that is alive does no harm: it
	// goes on up to its bound, and whoever comes next begins there.
	Free(ctx context.Context, space string, worker, epoch int64) error
}
