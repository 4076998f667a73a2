package doctor

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
)

// space is what a store keeps of a namespace.
type space struct {
	layout     string // its fingerprint
	datacenter int64  // whose worker IDs are leased; -1: those of all
}

// onlyDatacenter is what package worker appends to the fingerprint of a namespace of one
// datacenter.
const onlyDatacenter = " only-datacenter="

func parseSpace(stored string) space {
	layout, number, found := strings.Cut(stored, onlyDatacenter)
	if datacenter, err := strconv.ParseInt(number, 10, 64); found && err == nil {
		return space{layout, datacenter}
	}
	return space{stored, -1}
}

// bits returns the width of a field of the layout.
func (s space) bits(field string) int {
	for word := range strings.FieldsSeq(s.layout) {
		if text, ok := strings.CutPrefix(word, field+"="); ok {
			n, _ := strconv.Atoi(text) // 0: not a layout that this version knows
			return min(max(n, 0), 62)
		}
	}
	return 0
}

// workerIDs is how many worker IDs the namespace has.
func (s space) workerIDs() int64 {
	if s.datacenter >= 0 {
		return 1 << s.bits("worker")
	}
	return 1 << min(s.bits("datacenter")+s.bits("worker"), 62)
}

// whole returns the worker ID, as in IDs, of a record.
func (s space) whole(rec driver.Record) int64 {
	return max(s.datacenter, 0)<<s.bits("worker") + rec.Worker
}

func (s space) String() string {
	if s.datacenter < 0 {
		return fmt.Sprintf("all %d worker IDs", s.workerIDs())
	}
	return fmt.Sprintf("the worker IDs of datacenter %d", s.datacenter)
}
