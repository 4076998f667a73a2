package serial

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	_ "time/tzdata" // the zones, whatever the machine has
)

// moment is a time, and the date that a clock in the zone shows.
type moment struct{ at, date string }

// midnights are ends of days: a plain one, one at which clocks are set forward, one
// that comes twice, and the two of a day of 25 hours.
var midnights = map[string][]moment{
	"Asia/Tokyo":       {{"2026-11-21T14:59:59.999Z", "20261121"}, {"2026-11-21T15:00:00Z", "20261122"}},
	"America/Santiago": {{"2026-09-06T03:59:59.999Z", "20260905"}, {"2026-09-06T04:00:00Z", "20260906"}},
	"America/Havana":   {{"2026-11-01T03:59:59.999Z", "20261031"}, {"2026-11-01T04:00:00Z", "20261101"}, {"2026-11-01T05:00:00Z", "20261101"}},
	"Europe/Dublin": {
		{"2026-10-24T22:59:59.999Z", "20261024"}, {"2026-10-24T23:00:00Z", "20261025"}, {"2026-10-25T00:30:00Z", "20261025"},
		{"2026-10-25T01:30:00Z", "20261025"}, {"2026-10-25T23:59:59.999Z", "20261025"}, {"2026-10-26T00:00:00Z", "20261026"},
	},
}

// Several processes draw numbers over midnight, one of them with a clock that goes backwards.
// No number is issued twice, each has the date of its time, and each day begins with 1. A
// process skips less than a block each time that it reaches a day.
func TestMidnights(t *testing.T) {
	const processes, each, block = 3, 10, 4
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	onEvery(t, func(t *testing.T, e engine) {
		for zone, moments := range midnights {
			code := code()
			var mu sync.Mutex
			given := map[string]map[string]bool{} // by date
			var wg sync.WaitGroup
			for p := range processes {
				mine := slices.Clone(moments)
				if p == processes-1 {
					slices.Reverse(mine)
				}
				wg.Go(func() {
					clock := zone
					for _, m := range mine {
						clock += " " + m.at
					}
					cmd := exec.CommandContext(t.Context(), program)
					cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s %d %d", childVariable, e.driver, code, block, each), childDSN+"="+e.dsn, childClock+"="+clock)
					var stderr strings.Builder
					cmd.Stderr = &stderr
					out, err := cmd.Output()
					lines := strings.Fields(string(out))
					if err != nil || len(lines) != each*len(mine) {
						t.Errorf("%s: %d numbers, %v, %s", zone, len(lines), err, &stderr)
						return
					}
					mu.Lock()
					defer mu.Unlock()
					for i, line := range lines {
						date := mine[i/each].date
						if given[date] == nil {
							given[date] = map[string]bool{}
						}
						if !strings.HasPrefix(line, "INV-"+date+"-") || given[date][line] {
							t.Errorf("%s: %q at %s, a second time: %v", zone, line, mine[i/each].at, given[date][line])
						}
						given[date][line] = true
					}
				})
			}
			wg.Wait()
			if t.Failed() {
				return
			}
			for date, numbers := range given {
				if !numbers["INV-"+date+"-000001"] {
					t.Errorf("%s: %s does not begin with 1", zone, date)
				}
				first, err := e.counter(t).Reserve(t.Context(), date+":"+code, 1)
				if err != nil {
					t.Fatal(err)
				}
				if taken, most := int(first-1), len(numbers)+processes*(block-1); taken < len(numbers) || taken > most {
					t.Errorf("%s: %d were taken on %s and %d given, at most %d may be skipped", zone, taken, date, len(numbers), most-len(numbers))
				}
			}
		}
	})
}
