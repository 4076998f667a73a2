// Package shard spreads rows by their ids, over servers or over the ranges of a distributed database.
//
//	n, err := shard.Of(id, 16) // the number of the row's shard, 0 to 15
//
//	scatter, err := shard.NewScatter(core.Twitter(), 4)
//	key, err := scatter.Key(id) // stored in place of the id, in one of 16 ranges
//	id, err = scatter.ID(key)
//
// [Of] spreads ids evenly over n shards. An id modulo n does not: all ids of a generator that issues
// less than one id per tick end in the same bits, so most shards stay empty.
//
// A [Scatter] is for databases that keep a table sorted by its key and split it into ranges, such as
// CockroachDB, TiDB and Spanner. Ids ascend, so all new rows go to the last range. Scattered keys go
// to all ranges, and the rows of a time interval are still only a few ranges of keys.
//
// # What is guaranteed
//
// The results depend only on the arguments, and are the same in all versions of this package.
// Config.Shard, Config.ScatterKey and Config.ScatterID of package ddl are the same functions in SQL.
//
// Tests check how even the shards are: for 2 to 1,024 shards, at rates from one id a minute to 4,096
// a millisecond, in bursts, and for several workers, the chi-square statistic is that of random
// numbers.
//
// # What is not
//
// The functions hide nothing: anyone can compute them.
//
// See docs/shards.md and docs/distributed.md in the repository.
package shard
