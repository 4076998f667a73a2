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
// One generator never issues an id twice, whatever its clock does, and its ids
// ascend. A call whose context is done issues nothing, and [Generator.Fill]
// hands out all the ids it was asked for or none.
//
// Between two generators in turn under one number, as before and after a
// restart, the number alone proves nothing: with [Fixed] a restart is safe as
// long as the wall clock does not stand behind the last id that was issued.
// A generator begins one tick after the one in which it was made, so no pause
// is needed between the two. Where the clock may have gone back meanwhile, set
// [Config.NotBefore] to the time of the greatest id in use.
//
// # Time
//
// Time is counted in ticks of the layout since its epoch. The wall clock is
// read through the monotonic clock and compared with it at least once a second
// while ids are drawn, so a step of the wall clock is noticed within a second. What
// happens then is the choice of [Config.ClockBack]; by default ([Logical]) ids
// go on without an error.
//
// The package imports the standard library only.
package core
