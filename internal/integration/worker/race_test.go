//go:build race

package worker

// The race detector makes each request some times as slow.
func init() { slowness = 3 }
