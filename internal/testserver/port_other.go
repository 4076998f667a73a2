//go:build !linux

package testserver

// holdPort is for Linux: elsewhere a port that is held cannot be listened on.
func holdPort(string) (release func()) { return func() {} }
