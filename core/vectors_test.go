package core_test

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
)

// The textbook's formula, at all extremes of the fields, computed here in
// int64 and by other languages in integers of their own.
func TestTextbookFormula(t *testing.T) {
	const epoch = 1288834974657
	var asked, want []string
	for _, ms := range []int64{epoch, epoch + 1, 1505914988849, epoch + 1<<41 - 1} {
		for _, dc := range []int64{0, 17, 31} {
			for _, worker := range []int64{0, 25, 31} {
				for _, seq := range []int64{0, 1, 4095} {
					id, err := core.Twitter().Compose(core.Parts{Time: time.UnixMilli(ms), Datacenter: dc, Worker: worker, Sequence: seq})
					if formula := (ms-epoch)<<22 | dc<<17 | worker<<12 | seq; err != nil || id != formula {
						t.Errorf("%d, %d, %d, %d: %d, %v; the formula gives %d", ms, dc, worker, seq, id, err, formula)
					}
					asked = append(asked, fmt.Sprintf("[%d,%d,%d,%d]", ms, dc, worker, seq))
					want = append(want, fmt.Sprint(id))
				}
			}
		}
	}
	list := "[" + strings.Join(asked, ",") + "]"
	for _, other := range [][]string{
		{"node", "-e", "for (const [ms, dc, w, s] of " + list + ") console.log(String((BigInt(ms) - 1288834974657n) << 22n | BigInt(dc) << 17n | BigInt(w) << 12n | BigInt(s)))"},
		{"python3", "-c", "for ms, dc, w, s in " + list + ": print((ms - 1288834974657) << 22 | dc << 17 | w << 12 | s)"},
	} {
		if _, err := exec.LookPath(other[0]); err != nil {
			t.Logf("%s is not here to compute it too", other[0])
			continue
		}
		out, err := exec.Command(other[0], other[1:]...).CombinedOutput()
		if got := strings.Fields(string(out)); err != nil || strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%s: %v\n%s", other[0], err, out)
		}
	}
}
