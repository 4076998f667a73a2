package file

import (
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"unsafe"
)

// birthOf returns when the file was made, because inodes are reused. Package syscall lacks statx(2). Some
// file systems do not record the birth.
func birthOf(path string, _ os.FileInfo) (birth string, err error) {
	const (
		atCurrentDirectory = -100
		birthTime          = 0x800
	)
	number, ok := map[string]uintptr{
		"386": 383, "amd64": 332, "arm": 397, "mips": 4366, "mipsle": 4366, "mips64": 5326, "mips64le": 5326, "ppc64": 383, "ppc64le": 383, "s390x": 379,
	}[runtime.GOARCH]
	if !ok {
		number = 291
	}
	name, err := syscall.BytePtrFromString(path)
	if err != nil {
		return "", err
	}
	var st [256]byte
	here := atCurrentDirectory
	_, _, failed := syscall.Syscall6(number, uintptr(here), uintptr(unsafe.Pointer(name)), 0, birthTime, uintptr(unsafe.Pointer(&st)), 0)
	switch failed {
	case 0:
	case syscall.ENOSYS:
		return "", nil
	default:
		return "", failed
	}
	seconds, nanoseconds := binary.NativeEndian.Uint64(st[80:]), binary.NativeEndian.Uint32(st[88:])
	return fmt.Sprintf("%d.%09d", int64(seconds), nanoseconds), nil
}

// bootID returns an ID that changes when the machine starts, and so loses what was not flushed.
func bootID() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id))
}
