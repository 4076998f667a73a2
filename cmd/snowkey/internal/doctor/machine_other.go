//go:build !linux

package doctor

import "errors"

func readKernel() (kernelClock, error) { return kernelClock{}, errors.ErrUnsupported }

// fileSystem has no check on this system.
func (e *checkup) fileSystem(path string) {
	e.skip("file system", "check that %s is on a local disk", path)
}
