//go:build linux && (amd64 || arm64) && !purego

// The reading of the processor's counter, see counter.go. Without this file, counter_amd64.s and
// counter_arm64.s, every id reads the clock.

package core

import (
	"os"
	"runtime"
	"strings"
	"syscall"
	"unsafe"
)

// readCounter reads the time stamp counter of amd64, or the virtual counter of arm64.
func readCounter() uint64

func (platform) readCounter() uint64 { return readCounter() }

// counterIsClock reports whether Linux itself takes the time from the counter, and lets this
// thread read it. Linux tests the counter, and changes to another clock if it is unsteady.
func (platform) counterIsClock() bool {
	const file = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
	name, err := os.ReadFile(file)
	if err != nil {
		return false
	}
	switch strings.TrimSpace(string(name)) {
	case "tsc", "kvm-clock", "hyperv_clocksource_tsc_page":
		return runtime.GOARCH == "amd64" && mayReadCounter()
	case "arch_sys_counter":
		return runtime.GOARCH == "arm64" && mayReadCounter()
	}
	return false
}

// mayReadCounter reports whether this thread may read the counter. prctl(PR_SET_TSC,
// PR_TSC_SIGSEGV) forbids it, on amd64 and newer kernels of arm64. Where the kernel does not know
// that call, reading is allowed. (A Go program that starts with reading forbidden does not get
// this far, because Go's own clock reads the counter too.)
func mayReadCounter() bool {
	const prGetTSC, tscSIGSEGV = 25, 2
	var mode int32
	_, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, prGetTSC, uintptr(unsafe.Pointer(&mode)), 0)
	return errno != 0 || mode != tscSIGSEGV
}
