package doctor

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestJudgeKernel(t *testing.T) {
	for _, c := range []struct {
		name string
		k    kernelClock
		err  error
		want string // status, name and part of the detail of each
	}{
		{"synchronized", kernelClock{synchronized: true, maxError: 1500 * time.Microsecond}, nil, "ok kernel clock: synchronized, wrong by at most 1.5ms\n"},
		{"vague", kernelClock{synchronized: true, maxError: 3 * time.Second}, nil, "warn kernel clock: synchronized, wrong by at most 3s"},
		{"not synchronized", kernelClock{maxError: 16 * time.Second}, nil, "warn kernel clock: not synchronized"},
		{"not visible", kernelClock{}, errors.ErrUnsupported, "skip kernel clock: not visible"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got strings.Builder
			e := &checkup{emit: func(c Check) {
				got.WriteString(string(c.Status) + " " + c.Name + ": " + c.Detail + "\n")
				if (c.Status == Warn) != (c.Advice != "") {
					t.Errorf("%s: advice %q", c.Status, c.Advice)
				}
			}}
			e.judgeKernel(c.k, c.err)
			if !strings.Contains(got.String(), c.want) {
				t.Errorf("got\n%swant\n%s", got.String(), c.want)
			}
		})
	}
}
