//go:build !linux

package testserver

import "errors"

// holdPort is for Linux: elsewhere a port that is held cannot be listened on.
func holdPort(string) (release func(), err error) { return nil, errors.ErrUnsupported }
