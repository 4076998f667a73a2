//go:build !unix

package cputime

import (
	"testing"
	"time"
)

// Busy is not known here.
func Busy(*testing.B) time.Duration { return 0 }
