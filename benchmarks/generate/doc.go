// Package generate measures how ids are made: one at a time, by one goroutine and by many, in blocks,
// and the first one.
//
// Every generator, ours too, is called through a function value, which adds the same 1 to 2 ns to
// each. Package internal/peers documents how the others differ.
package generate
