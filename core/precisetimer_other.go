//go:build !linux

package core

import "time"

// preciseTimer is as precise as the platform's timers.
type preciseTimer struct{}

func (preciseTimer) sleep(d time.Duration) { time.Sleep(d) }
func (preciseTimer) close()                {}
