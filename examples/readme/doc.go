// Package readme holds the code of README.md and of docs, so that it is compiled and run.
// A test finds each block of Go of the documents here or in examples/tutorial.
package readme
