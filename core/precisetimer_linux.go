package core

import (
	"os"
	"syscall"
	"time"
	"unsafe"
)

// preciseTimer sleeps for less than about a millisecond. The runtime's timers cannot: it rounds
// their waits up to whole milliseconds. It waits for a timer of the kernel as for a connection,
// so it occupies no thread.
type preciseTimer struct {
	file *os.File // nil: not made yet
	fd   uintptr  // of file, whose method Fd would make it block a thread
	none bool     // the kernel has none for us

	spec    [2]syscall.Timespec // how often, and when; here so that no call allocates them
	expired [8]byte
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

// wait reports whether the kernel's timer worked.
func (t *preciseTimer) wait(d time.Duration) bool {
	t.spec[1] = syscall.NsecToTimespec(int64(d))
	_, _, errno := syscall.Syscall6(syscall.SYS_TIMERFD_SETTIME, t.fd, 0, uintptr(unsafe.Pointer(&t.spec)), 0, 0, 0)
	if errno != 0 {
		return false
	}
	_, err := t.file.Read(t.expired[:])
	return err == nil
}

func (t *preciseTimer) close() {
	if t.file != nil {
		_ = t.file.Close()
		t.file = nil
	}
}
