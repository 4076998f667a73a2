//go:build unix && mixed

package torture

import (
	"fmt"
	"os"
	"testing"
	"time"
)

// oldVar names the binary of these tests at an older commit.
const oldVar = "SNOWKEY_TORTURE_OLD"

func older(t *testing.T) version {
	t.Helper()
	binary := os.Getenv(oldVar)
	if _, err := os.Stat(binary); err != nil {
		t.Fatalf("%s=%q must be the path of an older build of these tests, see doc.go: %v", oldVar, binary, err)
	}
	return version{"old", binary}
}

// TestMixedVersions is TestFence with every second process of an older version, as
// during an upgrade that is rolled out or back: both hold, renew, exchange and lose
// worker IDs of one space, are killed and stopped, and take over from each other.
// The HTTP server before a store is of either version in turn.
//
// The variables of TestFence set its length. The default is 105 seconds and 14,000,000 ids
// over all stores.
func TestMixedVersions(t *testing.T) {
	old := older(t)
	n := len(stores())
	least := time.Duration(setting(t, "SNOWKEY_TORTURE_SECONDS", 105)) * time.Second / time.Duration(n)
	ids := setting(t, "SNOWKEY_TORTURE_IDS", 14_000_000) / uint64(n)
	seed := seedOf(t)
	var all uint64
	for _, name := range stores() {
		t.Run(name, func(t *testing.T) {
			r := newTorture(t, name, seed, false, old)
			r.until(func(elapsed time.Duration) bool {
				return elapsed >= least && r.tally[issued] >= ids && r.enough() && r.enoughOfEach()
			})
			r.end()
			found := r.check()
			suffered, _ := r.happened()
			t.Logf("%d ids in %d intervals, %d duplicates; %d stopped; the store: %s", found.ids, found.intervals, found.duplicates, r.stops, suffered)
			between := r.takeoversBetween()
			for i, v := range r.versions {
				of := r.of[i]
				t.Logf("%-7s %d ids, %d killed, %d claims, %d losses, %d times at the fence, %d times no number free, %d claims failed",
					v.name, of[issued], r.killed[i], of[claimed], of[lost], of[fenced], of[noneFree], of[failed])
				for j, w := range r.versions {
					t.Logf("%-7s %d takeovers by %s", "", between[i][j], w.name)
				}
			}
			for _, d := range found.first {
				t.Errorf("DUPLICATE (%s): %s", r.versionsOf(d), r.describe(d))
			}
			if found.duplicates > 0 || found.ids != r.tally[issued] {
				t.Errorf("%d duplicates among %d ids, and %d were written down", found.duplicates, found.ids, r.tally[issued])
			}
			all += found.ids
		})
	}
	t.Logf("%d ids in all", all)
}

// versionsOf names the versions that issued a duplicate.
func (r *torture) versionsOf(d duplicate) string {
	name := func(source int64) string { return r.versions[r.books[source].version].name }
	return fmt.Sprintf("%s and %s", name(d.sources[0]), name(d.sources[1]))
}

// enoughOfEach reports whether each version has held, died and lost worker IDs, and
// has taken some over from each.
func (r *torture) enoughOfEach() bool {
	for i, of := range r.of {
		if of[issued] < 100_000 || of[claimed] < 10 || of[lost] < 1 || of[fenced] < 1 || r.killed[i] < 5 {
			return false
		}
	}
	for _, row := range r.takeoversBetween() {
		for _, times := range row {
			if times < 3 {
				return false
			}
		}
	}
	return true
}
