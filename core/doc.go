// Package core makes Snowflake ids: 64-bit integers that sort by the time they
// were made, unique without asking a server for each one.
//
// A [Layout] says which bits of an id carry what. A [Worker] grants a generator
// its number: two generators that run with one layout must never have the same.
// A [Generator] puts time, worker and sequence together:
//
//	gen, err := core.New(core.Config{Worker: core.Fixed(3)})
//	if err != nil {
//		return err
//	}
//	defer gen.Close()
//	id, err := gen.Next(ctx)
//
// # What is guaranteed
//
// One generator never issues an id twice, whatever its clock does, with every
// [ClockPolicy]. Its ids ascend, except with [Reuse], [Rollback] and [Rotate]. A
// call whose context is done issues nothing, and [Generator.Fill] hands out all
// the ids it was asked for or none.
//
// Between two generators in turn under one number, as before and after a
// restart, the number alone proves nothing: with [Fixed] a restart is safe as
// long as the wall clock does not stand behind the last id that was issued.
// A generator begins one tick after the one in which it was made, so no pause
// is needed between the two, if [Config.Now] is as fine as a tick; with Rollback,
// see there. Where the clock may have gone back meanwhile, set [Config.NotBefore]
// to the time of the greatest id in use. Within one process a value of Fixed
// remembers where its last generator had come to.
//
// A [Grant] with a bound, as a lease gives it, needs none of that: ids never
// leave the span of time it was made for.
//
// # Time
//
// Time is counted in ticks of the layout since its epoch. The wall clock is
// read through the monotonic clock and compared with it at least once a second
// while ids are drawn, so a step of the wall clock is noticed within a second;
// one back by less than a millisecond is taken for a pause between two readings.
//
// Under a grant that begins ahead of the wall clock, ids begin where the grant
// does, and its beginning is carried on by the monotonic clock: so they never
// wait for the wall clock to come so far, in any strategy. The lead shrinks as
// soon as ticks are not full.
//
// When the wall clock goes back:
//
//	Logical    goes on in the last id's tick and those after it, without an error; the default
//	Refuse     a *ClockError until the clock has caught up
//	Wait       waits for it, up to a limit
//	Rollback   goes on from the clock, under another value of the layout's roll-back field
//	Reuse      issues numbers that were left unused in the last moments
//	Rotate     goes on from the clock, under another worker number
//
// When it leaps ahead by no more than [Config.MaxJump], ids follow it at once,
// in every strategy, and a return is a step back like any other. A larger leap
// is not followed until it has lasted ten seconds and been seen three times, a
// second or more apart: ids go on in the old time, and if the leap is taken back
// before, nothing was lost. A leap second that repeats a second is a step back
// of a second; a smeared one is no step at all.
//
// # Waiting
//
// A call waits when the sequence of a tick is used up, at the end of a grant, and
// with Wait. It holds no lock and no core meanwhile: it sleeps through most of the
// wait, one goroutine sleeps precisely through the last millisecond, and only
// microseconds are spun. Where the wait is short, at most 25ms, a call may notice
// two milliseconds late that its context is done; it issues nothing after that
// either. What is known to last longer than [Config.MaxWait], or
// than the context's deadline allows, is refused at once.
//
// # Cost
//
// A call that succeeds allocates nothing, unless it waits for more than 25ms, or
// goes on under another grant or roll-back value; once a second, one that
// compares the clocks allocates 24 bytes. Goroutines on several cores
// that draw from one generator do not hinder each other: one that finds the word
// taken lets the other run on for some microseconds.
//
// The package imports the standard library only.
package core
