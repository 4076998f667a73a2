// Package shard spreads ids over servers and over the ranges of a distributed database.
//
//	n, err := shard.Of(id, 16) // the number of the row's shard, 0 to 15
//
//	scatter, err := shard.NewScatter(core.Twitter(), 4)
//	key, err := scatter.Key(id) // stored in place of the id, in one of 16 ranges
//	id, err = scatter.ID(key)
//
// [Of] chooses one of n shards. An id modulo n does not: the ids of a generator that issues
// less than one id per tick all end in the same bits, so most shards stay empty.
//
// A [Scatter] is for databases that keep a table sorted by its key and split it into ranges,
// such as CockroachDB, TiDB, YugabyteDB and Spanner. Ids ascend, so all new rows go to the
// last range. Scattered keys go to all ranges, and the rows of an interval of time are
// still a few ranges of keys.
//
// # What is guaranteed
//
// The functions depend on their arguments only, and their results never change with a version
// of this package. Config.Shard, Config.ScatterKey and Config.ScatterID of package ddl write
// them in SQL, with the same results.
//
// How even they are is a test: at rates from one id a minute to 4,096 a millisecond, in
// bursts, for several workers, over 2 to 1,024 shards, the chi-square statistic is that of random
// numbers. They hide nothing: anyone can compute them.
//
// See docs/shards.md and docs/distributed.md.
package shard
