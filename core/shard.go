package core

import "fmt"

// MaxShards is the greatest number of shards of [Shard].
const MaxShards = 65536

// Shard returns the shard of an id among n shards: 0 to n-1. n is 1 to [MaxShards]; the error
// is a [*ConfigError]. Every int64 has a shard, 0 and negative ones too. Config.Shard of package
// ddl is the same function in SQL.
//
// Shard spreads ids evenly. An id modulo n does not: all ids of a generator that issues less than
// one id per tick end in the same bits, so most shards stay empty.
//
// The shard of an id depends on n, and is the same in all versions of this package. With 2n shards,
// the rows of shard s are in s and s+n; with any other number, almost all rows move. So begin with
// many more shards than servers, and move whole shards to new servers.
func Shard(id int64, n int) (int, error) {
	if n < 1 || n > MaxShards {
		return 0, configError(FieldError{"n", fmt.Sprint(n), fmt.Sprintf("must be 1 to %d", MaxShards)})
	}
	return int(idHash(id) % int64(n)), nil
}

// idHash hashes an id to a number from 0 to 4294967278. Rows are where it says, so it never changes.
//
// It uses only multiplication and the remainder of a division, and no product exceeds an
// int64. So every database computes it exactly, and MySQL allows it where it allows no function
// and no bit operation: after PARTITION BY. All moduli are primes. The first two remainders
// together determine the id, so their product depends on all of its bits. It is not linear, so
// no rate of ids is a bad one. The two steps after it break up patterns of the product.
func idHash(id int64) int64 {
	x := (id % 3863124193) * (id % 2387542127) % 4294967291
	x = x * 1640531527 % 3037000493
	return x * 2246822519 % 4294967279
}
