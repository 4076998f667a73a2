//go:build !unix

package cputime

import (
	"testing"
	"time"
)

// Busy returns 0: it is not supported on this system.
func Busy(*testing.B) time.Duration { return 0 }
