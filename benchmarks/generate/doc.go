// Package generate measures how ids are made: one at a time, by one goroutine
// and by many, and in blocks.
//
// Every generator stands behind one call of a function value, ours too, which
// adds the same 1 to 2 ns to each. What is unlike about the others is said in
// internal/peers.
package generate
