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
	return kernelClock{
		synchronized: state != unix.TIME_ERROR && x.Status&unix.STA_UNSYNC == 0,
		maxError:     time.Duration(x.Maxerror) * time.Microsecond,
	}, nil
}
