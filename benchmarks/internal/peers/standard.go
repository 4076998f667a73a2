//go:build go1.27

package peers

import (
	"testing"
	"uuid"
)

// standard is what the standard library has.
func standard() []Peer {
	next := func() error { uuid.NewV7(); return nil }
	return []Peer{{"std-uuid7", func(testing.TB) Next { return next }}}
}
