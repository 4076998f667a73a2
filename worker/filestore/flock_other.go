//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package filestore

import (
	"errors"
	"fmt"
	"os"
	"runtime"
)

// errReadOnly has no name that all these systems share, and no lock comes before it there.
var errReadOnly = errors.ErrUnsupported

func flock(f *os.File) error {
	return fmt.Errorf("filestore: lock %s: %s has no flock: %w", f.Name(), runtime.GOOS, errors.ErrUnsupported)
}
