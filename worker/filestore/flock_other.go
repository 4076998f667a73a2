//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package filestore

import (
	"errors"
	"fmt"
	"os"
	"runtime"
)

func flock(f *os.File) error {
	return fmt.Errorf("filestore: lock %s: %s has no flock: %w", f.Name(), runtime.GOOS, errors.ErrUnsupported)
}
