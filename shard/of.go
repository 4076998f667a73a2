package shard

import "github.com/seed-299c1d6b/snowkey/internal/fields"

// MaxShards is the greatest number of shards.
const MaxShards = 65536

// Of returns the shard of an id among n shards: 0 to n-1. n is 1 to [MaxShards]; the error
// is a [*core.ConfigError]. Every int64 has a shard, 0 and negative ones too.
//
// The shard of an id depends on n. With 2n shards, the rows of shard s are in s and s+n; with
// any other number, almost all rows move. So begin with many more shards than servers,
// and move whole shards to new servers.
func Of(id int64, n int) (int, error) {
	if n < 1 || n > MaxShards {
		return 0, fields.Error("shard", "n", n, "must be 1 to %d", MaxShards)
	}
	return int(mix(id) % int64(n)), nil
}

// mix hashes an id to a number from 0 to 4294967278. It uses only multiplication and the
// remainder of a division, and no product exceeds an int64. So every database computes it
// exactly, and MySQL allows it where it allows no function and no bit operation: after
// PARTITION BY. All moduli are primes. The first two together determine the id, so the
// product of the remainders depends on all of its bits. It is not linear, so no rate of ids is
// a bad one. The two steps after it separate runs of ids whose products have a pattern.
//
// The constants are for ever: rows are where they say.
func mix(id int64) int64 {
	x := (id % 3863124193) * (id % 2387542127) % 4294967291
	x = x * 1640531527 % 3037000493
	return x * 2246822519 % 4294967279
}
