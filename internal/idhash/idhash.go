// Package idhash hashes an id, in Go and in SQL with the same result.
package idhash

import "fmt"

// Of hashes an id to a number from 0 to 4294967278. Packages shard and ddl store what follows
// from it, so it never changes.
//
// It uses only multiplication and the remainder of a division, and no product exceeds an
// int64. So every database computes it exactly, and MySQL allows it where it allows no function
// and no bit operation: after PARTITION BY. All moduli are primes. The first two remainders
// together determine the id, so their product depends on all of its bits. It is not linear, so
// no rate of ids is a bad one. The two steps after it break up patterns of the product.
func Of(id int64) int64 {
	x := (id % 3863124193) * (id % 2387542127) % 4294967291
	x = x * 1640531527 % 3037000493
	return x * 2246822519 % 4294967279
}

// SQL is Of in SQL, for an id that is SQL of a signed integer of 64 bits. Operators of a lower
// precedence than * must not follow it without parentheses.
func SQL(id string) string {
	return fmt.Sprintf("(%[1]s %% 3863124193) * (%[1]s %% 2387542127) %% 4294967291 * 1640531527 %% 3037000493 * 2246822519 %% 4294967279", id)
}
