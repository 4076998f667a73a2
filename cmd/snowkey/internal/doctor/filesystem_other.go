//go:build !linux

package doctor

// fileSystem has no check on this system.
func (e *checkup) fileSystem(name, path string) {
	e.skip(name, "check that %s is on a local disk", path)
}
