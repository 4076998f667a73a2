package sqlstore

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"unsafe"
)

// statx is what the system call returns; see statx(2).
type statx struct {
	mask, blockSize     uint32
	attributes          uint64
	_                   [5]uint64
	attributesMask      uint64
	_                   [2]uint64 // atime
	birthSeconds        int64
	birthNanoseconds, _ uint32
	_                   [20]uint64
}

// statxNumbers are those of the system call where they differ from the usual one; package syscall lacks
// them.
var statxNumbers = map[string]uintptr{
	"386": 383, "amd64": 332, "arm": 397, "mips": 4366, "mipsle": 4366, "mips64": 5326, "mips64le": 5326, "ppc64": 383, "ppc64le": 383, "s390x": 379,
}

func statxOf(path string) (st statx, err error) {
	const (
		atCurrentDirectory = -100
		birthTime          = 0x800
		usual              = 291
	)
	name, err := syscall.BytePtrFromString(path)
	if err != nil {
		return st, err
	}
	number, ok := statxNumbers[runtime.GOARCH]
	if !ok {
		number = usual
	}
	here := atCurrentDirectory
	if _, _, failed := syscall.Syscall6(number, uintptr(here), uintptr(unsafe.Pointer(name)), 0, birthTime, uintptr(unsafe.Pointer(&st)), 0); failed != 0 {
		return st, failed
	}
	return st, nil
}

// birthOf returns when the file was made: inodes are used again. Some file systems do not know it.
func birthOf(path string, _ os.FileInfo) (string, error) {
	st, err := statxOf(path)
	if err == syscall.ENOSYS {
		return "", nil
	}
	return fmt.Sprintf("%d.%09d", st.birthSeconds, st.birthNanoseconds), err
}

// isMount reports whether the path is a mount.
func isMount(path string) bool {
	const mountRoot = 0x2000
	st, err := statxOf(path)
	return err == nil && st.attributes&mountRoot != 0
}

// bootID changes when the machine starts: what was not flushed is then lost.
func bootID() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id))
}
