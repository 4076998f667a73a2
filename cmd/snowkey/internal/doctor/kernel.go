package doctor

import (
	"context"
	"time"

	"github.com/seed-299c1d6b/snowkey/cmd/snowkey/internal/timetext"
)

// kernelClock is what the kernel knows about this machine's clock.
type kernelClock struct {
	synchronized bool          // by an NTP client, according to that
	leap         int           // 1: a second is inserted at the end of the day, -1: one is left out
	correction   time.Duration // what is left to be slewed
	maxError     time.Duration // the bound that the NTP client and the kernel maintain
}

// What a generator does when the clock is set: the defaults of core.Config.
const (
	stepBack  = "back, no ID repeats: by default IDs continue from the time of the last one without an error, while the policies Refuse and Wait wait or fail"
	stepAhead = "ahead, IDs follow at once up to 1m, and further only after 10s"
)

func (e *checkup) kernel(context.Context) {
	k, err := readKernel()
	e.judgeKernel(k, err)
}

func (e *checkup) judgeKernel(k kernelClock, err error) {
	const name = "kernel clock"
	switch {
	case err != nil:
		e.skip(name, "not visible: %v", err)
		return
	case !k.synchronized:
		e.report(Warn, name, "not synchronized, so its error is unknown", "run an NTP client such as chrony; it may step the clock when it starts")
	default:
		e.judge(k.maxError > noticeable, Warn, name,
			"synchronized, wrong by at most "+timetext.Length(k.maxError)+", "+slewed(k.correction),
			"IDs of machines whose clocks differ do not sort by age; check the servers of the NTP client")
	}
	switch k.leap {
	case 1:
		e.report(Warn, "leap second", "announced: the last second of this UTC day will occur twice", "a step back of 1s: nothing to do with the default policy; with Refuse, IDs fail for 1s")
	case -1:
		e.ok("leap second", "announced: the last second of this UTC day will be left out, a step ahead of 1s")
	default:
		e.ok("leap second", "none is announced")
	}
	e.ok("if the clock steps", "%s; %s", stepBack, stepAhead)
}

// slewed says how the clock is being corrected.
func slewed(by time.Duration) string {
	switch {
	case by == 0:
		return "not being corrected"
	case by < 0:
		return "being slowed by " + timetext.Length(-by)
	}
	return "being advanced by " + timetext.Length(by)
}
