// Package footprint measures what a generator, a lease and a plugin hold in
// memory, and how long it takes from nothing to the first id.
//
// A new generator of ours begins one tick after the one it was made in, so that
// another that was closed in that tick cannot have issued the same id. Its first
// id therefore waits for up to a millisecond; those of others do not, and two of
// them made in one millisecond begin with the same id.
package footprint
