//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package filestore

import (
	"errors"
	"fmt"
	"os"
	"runtime"
)

// errReadOnly is not needed here: every lock fails before anything is written.
var errReadOnly = errors.ErrUnsupported

func flock(f *os.File) error {
	return fmt.Errorf("filestore: lock %s: %s has no flock: %w", f.Name(), runtime.GOOS, errors.ErrUnsupported)
}
