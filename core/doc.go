// Package core generates Snowflake ids: 64-bit integers that sort by the time of their
// creation, and are unique without asking a server for each one.
//
// A [Layout] defines the bit fields of an id. A [GrantSource] gives a generator its worker ID,
// which it must not share with another generator of the same layout. A [Generator] combines
// time, worker ID and sequence:
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
// [Shard] spreads rows over servers by their ids.
//
// # Guarantees
//
// A generator never issues an id twice, whatever its clock does, with every [ClockPolicy].
// Its ids ascend, except with [Rollback], [Reuse] and [Rotate].
//
// A call whose context is done issues nothing. [Generator.Fill] issues all ids or none.
//
// The times of ids never leave the interval of their [Grant], from its beginning to its fence.
// So leases, see package worker, keep ids unique across processes and restarts, whatever the
// clocks do.
//
// A call that waits holds no lock. It returns an error at once if it knows that the wait will
// exceed [Config.MaxWait] or the context's deadline.
//
// A call that succeeds allocates nothing, with these exceptions:
//
//   - It waits for more than 25ms, or continues under another grant or roll-back value.
//   - A short wait may make one of the process's precise timers.
//   - Once a second, one call compares the clocks and allocates 24 bytes.
//   - Once a minute, one call looks at the machine's clock source.
//
// # Limits
//
// With [Fixed], only the clock separates a generator from the one before a restart. The new
// generator begins in the tick after the present one. So a restart is safe if the wall clock has
// not stepped back; a clock of [Config.Now] must also be as fine as a tick. Otherwise set
// [Config.NotBefore] to the time of the greatest id in use. Within a process, a value of Fixed
// remembers where the ids of its last generator ended.
//
// A generator does not read the clock for every id: the processor's counter tells whether a
// tick has ended, where it agrees with the clock. No guarantee depends on the counter. If it is
// wrong, ids may carry an old time.
//
// A step of the wall clock is noticed within a second. A step back by less than a millisecond
// is ignored. A jump ahead by more than [Config.MaxJump] is ignored until it has persisted for
// ten seconds.
//
// A call may notice up to two milliseconds late that its context is done.
//
// The repository's docs/clock.md describes the clocks, the policies and waiting in detail.
// This package imports the standard library only.
//
// To read the code, begin with layout.go and id.go, then grant.go, clock.go and clockpolicy.go.
// allocator.go issues ids under one grant, queue.go orders the calls that wait for them, reuse.go has
// what the policy Reuse needs, and counter.go saves most readings of the clock. Then come generator.go,
// next.go, wait.go (at the cap, at the fence, after a step back) and handover.go (to another grant).
package core
