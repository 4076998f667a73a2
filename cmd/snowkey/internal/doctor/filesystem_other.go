//go:build !linux

package doctor

// fileSystem has no check on this system.
func (e *checkup) fileSystem(path string) {
	e.skip("file system", "check that %s is on a local disk", path)
}
