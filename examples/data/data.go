// Package data holds the orders that the examples load by default, and reads such files.
package data

import (
	"bytes"
	_ "embed" // for go:embed
	"io"
	"os"
)

//go:embed orders.csv
var orders []byte

// File is a CSV of orders. It can be opened again.
type File struct {
	Name string
	Open func() (io.ReadCloser, error)
}

// At returns the file at path. An empty path means the examples' own file.
func At(path string) File {
	if path == "" {
		return File{"examples/data/orders.csv", func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(orders)), nil }}
	}
	return File{path, func() (io.ReadCloser, error) { return os.Open(path) }}
}

// Touch creates a file of SQLite unless it exists. SQLite's own error for a file that cannot be opened is "out of memory".
func Touch(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	return f.Close()
}
