//go:build !linux || (!amd64 && !arm64) || purego

package core

func readCounter() uint64 { return 0 }

func counterIsClock() bool { return false }
