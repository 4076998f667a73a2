package doctor

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/timetext"
)

// kernelClock is what the kernel knows about this machine's clock.
type kernelClock struct {
	synchronized bool          // by an NTP client, according to that
	maxError     time.Duration // the bound that the NTP client and the kernel maintain
}

func (e *checkup) kernel(context.Context) { e.judgeKernel(readKernel()) }

func (e *checkup) judgeKernel(k kernelClock, err error) {
	const name = "kernel clock"
	switch {
	case err != nil:
		e.skip(name, "not visible: %v", err)
	case !k.synchronized:
		e.report(Warn, name, "not synchronized, so its error is unknown", "run an NTP client such as chrony; it may step the clock when it starts")
	default:
		e.judge(k.maxError > noticeable, Warn, name,
			fmt.Sprintf("synchronized, wrong by at most %s", timetext.Length(k.maxError)),
			"IDs of machines whose clocks differ do not sort by age; check the servers of the NTP client")
	}
}
