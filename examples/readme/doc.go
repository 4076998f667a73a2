// Package readme holds the code that the README shows, so that it is compiled
// and run: each block of Go there stands in a file here, word for word.
package readme
