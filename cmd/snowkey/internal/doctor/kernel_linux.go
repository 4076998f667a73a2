package doctor

import (
	"time"

	"golang.org/x/sys/unix"
)

// readKernel asks the kernel about this machine's clock. It changes nothing, so it needs no
// privilege.
func readKernel() (kernelClock, error) {
	var x unix.Timex
	state, err := unix.Adjtimex(&x)
	if err != nil {
		return kernelClock{}, err
	}
	unit := time.Microsecond
	if x.Status&unix.STA_NANO != 0 {
		unit = time.Nanosecond
	}
	k := kernelClock{
		synchronized: state != unix.TIME_ERROR && x.Status&unix.STA_UNSYNC == 0,
		correction:   time.Duration(x.Offset) * unit,
		maxError:     time.Duration(x.Maxerror) * time.Microsecond,
	}
	switch {
	case state == unix.TIME_INS, state == unix.TIME_OOP, x.Status&unix.STA_INS != 0:
		k.leap = 1
	case state == unix.TIME_DEL, x.Status&unix.STA_DEL != 0:
		k.leap = -1
	}
	return k, nil
}
