package core

import (
	"os"
	"syscall"
	"time"
	"unsafe"
)

// preciseTimer sleeps precisely for less than about a millisecond. Go's timers cannot: the
// runtime rounds such a wait up to a millisecond. preciseTimer reads from a timer of the kernel
// as from a network connection, so it occupies no thread while it waits.
type preciseTimer struct {
	file *os.File // nil: not made yet
	fd   uintptr  // file's descriptor; file.Fd would make reads occupy a thread
	none bool     // the kernel refuses to make a timer

	// Arguments of system calls. They are fields, so that no call allocates.
	spec    [2]syscall.Timespec // the interval (none) and the delay
	expired [8]byte             // what a read returns
}

func (t *preciseTimer) sleep(d time.Duration) {
	if t.file == nil && !t.none {
		const monotonic = 1
		fd, _, errno := syscall.Syscall(syscall.SYS_TIMERFD_CREATE, monotonic, syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
		switch errno {
		case 0:
			t.fd, t.file = fd, os.NewFile(fd, "timer")
		case syscall.ENOSYS, syscall.EPERM:
			t.none = true
		}
	}
	if t.file == nil || !t.wait(d) {
		time.Sleep(d)
	}
}

// wait sleeps for d. It reports whether the kernel's timer worked.
func (t *preciseTimer) wait(d time.Duration) bool {
	t.spec[1] = syscall.NsecToTimespec(int64(d))
	_, _, errno := syscall.Syscall6(syscall.SYS_TIMERFD_SETTIME, t.fd, 0, uintptr(unsafe.Pointer(&t.spec)), 0, 0, 0)
	if errno != 0 {
		return false
	}
	_, err := t.file.Read(t.expired[:])
	return err == nil
}
