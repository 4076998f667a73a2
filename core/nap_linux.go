package core

import (
	"syscall"
	"time"
)

// nap sleeps for less than about a millisecond, which a timer cannot: the
// runtime rounds its waits up to whole ones. It holds its thread.
func nap(d time.Duration) {
	ts := syscall.NsecToTimespec(int64(d))
	_ = syscall.Nanosleep(&ts, nil) // woken early by a signal: the caller looks at the clock anyway
}
