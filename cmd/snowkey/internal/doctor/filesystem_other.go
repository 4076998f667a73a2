//go:build !linux

package doctor

// fileSystem cannot be judged here.
func (e *examination) fileSystem(name, path string) {
	e.skip(name, "see that %s is on a disk of this machine", path)
}
