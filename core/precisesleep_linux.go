package core

import (
	"syscall"
	"time"
)

// preciseSleep sleeps for less than about a millisecond. A timer cannot: the runtime rounds
// its waits up to whole milliseconds. It occupies a thread.
func preciseSleep(d time.Duration) {
	ts := syscall.NsecToTimespec(int64(d))
	_ = syscall.Nanosleep(&ts, nil) // a signal may end it early: the caller reads the clock again
}
