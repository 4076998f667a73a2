//go:build !linux

package core

import "time"

// nap sleeps as precisely as the platform's timers do.
func nap(d time.Duration) { time.Sleep(d) }
