//go:build unix

package cputime

import (
	"syscall"
	"testing"
	"time"
)

// Busy returns the CPU time of this process.
func Busy(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
