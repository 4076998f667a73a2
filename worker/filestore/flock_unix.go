//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package filestore

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// errReadOnly is the error of a file system that is mounted read-only.
const errReadOnly = syscall.EROFS

// flock locks the file, without waiting. The lock belongs to f alone: even this process cannot
// take it again through another *os.File.
func flock(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return errLocked
		default:
			return fmt.Errorf("filestore: lock %s: %w", f.Name(), err)
		}
	}
}
