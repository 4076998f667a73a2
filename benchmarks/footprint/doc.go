// Package footprint measures the memory of a generator, a lease and a plugin, and the time
// to the first id.
//
// A new generator of ours begins one tick later, because another one that was closed in
// this tick may have issued the same id. Its first id therefore waits for up to a
// millisecond. Other libraries do not wait: two generators made in one millisecond begin
// with the same id.
package footprint
