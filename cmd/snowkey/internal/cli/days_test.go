package cli

import (
	"encoding/json"
	"testing"
	"time"
)

// --count partitions are printed, also if the clocks skip the midnight of the last day or show it
// twice, and the ids of a day are those of its partition.
func TestDaysOfClockChanges(t *testing.T) {
	type ids struct{ Min, Before string }
	for _, c := range []struct {
		zone string
		day  int // of 2026
	}{{"America/Santiago", 249}, {"America/Havana", 67}, {"America/Havana", 305}, {"Australia/Lord_Howe", 95}, {"UTC", 325}} {
		date := func(days int) string {
			return time.Date(2026, 1, c.day+days, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
		}
		for _, by := range []string{"day", "week", "month"} {
			var cut struct{ Partitions []ids }
			answer(t, &cut, "partitions", "--by", by, "--dialect", "postgres", "--table", "o", "--tz", c.zone, "--from", date(-1), "--count", "2")
			if len(cut.Partitions) != 2 {
				t.Fatalf("by %s, %s of %s: %+v, want 2 partitions", by, date(0), c.zone, cut.Partitions)
			}
			var span ids
			answer(t, &span, "range", date(0), date(1), "--tz", c.zone)
			if by == "day" && span != cut.Partitions[1] {
				t.Errorf("%s in %s: %+v, and its partition has %+v", date(0), c.zone, span, cut.Partitions[1])
			}
		}
	}
}

// answer runs a command line with --json and reads what it prints.
func answer(t *testing.T, to any, args ...string) {
	t.Helper()
	got := run(t, append(args, "--json")...)
	if got.code != 0 {
		t.Fatalf("%q: exit code %d: %s", args, got.code, got.err)
	}
	if err := json.Unmarshal([]byte(got.out), to); err != nil {
		t.Fatalf("%q: %v: %s", args, err, got.out)
	}
}
