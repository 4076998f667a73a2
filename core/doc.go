// Package core generates Snowflake ids: 64-bit integers that sort by the time of their
// creation, and are unique without asking a server for each one.
//
// A [Layout] defines the bit fields of an id. A [GrantSource] gives a generator its worker ID:
// of two generators with the same layout, each must have its own. A [Generator] combines time,
// worker ID and sequence:
//
//	gen, err := core.New(core.Config{Worker: core.Fixed(3)})
//	if err != nil {
//		return err
//	}
//	defer gen.Close()
//	id, err := gen.Next(ctx)
//	if err != nil {
//		return err
//	}
//	parts, err := gen.Layout().Decode(id)
//
// # Guarantees
//
// A generator never issues an id twice, whatever its clock does, with every [ClockPolicy].
// Its ids ascend, except with [Rollback], [Reuse] and [Rotate].
//
// A call whose context is done issues nothing. [Generator.Fill] issues all ids or none.
//
// Ids never leave the interval of their [Grant], from its beginning to its fence. So leases,
// see package worker, keep ids unique across processes and restarts, whatever the clocks do.
//
// A call that waits holds no lock, and returns an error at once if it can know that the wait
// will exceed [Config.MaxWait] or the context's deadline.
//
// A call that succeeds allocates nothing, unless it waits for more than 25ms or continues
// under another grant or roll-back value; once a second, a call compares the clocks and
// allocates 24 bytes, once a minute one looks at the machine's clock source, and the first short
// wait makes a timer.
//
// # Limits
//
// With [Fixed] nothing but the clock separates a generator from the one before a restart. The
// new one begins a tick after its creation, so a restart is safe if the wall clock has not
// stepped back and, where [Config.Now] is set, is as fine as a tick. Otherwise set
// [Config.NotBefore] to the time of the greatest id in use. Within a process, a value of Fixed
// remembers where the ids of its last generator ended.
//
// Within a tick, ids are issued by the processor's counter where it agrees with the clock. No
// guarantee depends on it: if it is wrong, ids may carry an old time.
//
// A step of the wall clock is noticed within a second, one back by less than a millisecond
// not at all. A jump ahead by more than [Config.MaxJump] is ignored until it has persisted for
// ten seconds.
//
// A call may notice up to two milliseconds late that its context is done.
//
// The repository's docs/clock.md describes the clocks, the policies and waiting in detail.
// This package imports the standard library only.
package core
