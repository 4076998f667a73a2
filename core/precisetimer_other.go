//go:build !linux

package core

import "time"

// preciseTimer is as precise as Go's timers on this platform.
type preciseTimer struct{}

func (preciseTimer) sleep(d time.Duration) { time.Sleep(d) }
