//go:build !linux

package core

import "time"

// preciseSleep is as precise as the platform's timers.
func preciseSleep(d time.Duration) { time.Sleep(d) }
