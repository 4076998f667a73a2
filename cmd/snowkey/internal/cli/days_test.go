package cli

import (
	"encoding/json"
	"testing"
	"time"
)

// The IDs of a day are those of its partition, even if the clocks skip its midnight or
// show it twice, and --count partitions are printed.
func TestDaysOfClockChanges(t *testing.T) {
	for _, c := range []struct{ zone, change string }{
		{"America/Santiago", "2026-09-06"}, // begins at 01:00
		{"America/Santiago", "2026-04-05"},
		{"America/Havana", "2026-03-08"},
		{"America/Havana", "2026-11-01"}, // begins twice
		{"Africa/Cairo", "2026-04-24"},
		{"Asia/Beirut", "2026-03-29"},
		{"Europe/Dublin", "2026-10-25"},
		{"Australia/Lord_Howe", "2026-04-05"},
		{"UTC", "2026-11-21"},
	} {
		day, err := time.Parse(time.DateOnly, c.change)
		if err != nil {
			t.Fatal(err)
		}
		date := func(days int) string { return day.AddDate(0, 0, days).Format(time.DateOnly) }
		var cut struct {
			Partitions []struct{ Name, Min, Before string }
		}
		answer(t, &cut, "partitions", "--by", "day", "--dialect", "postgres", "--table", "o", "--tz", c.zone, "--from", date(-1), "--count", "3")
		if len(cut.Partitions) != 3 {
			t.Fatalf("%s of %s: %+v, want 3 partitions", c.change, c.zone, cut.Partitions)
		}
		for i, p := range cut.Partitions {
			var span struct{ Min, Before string }
			answer(t, &span, "range", date(i-1), date(i), "--tz", c.zone)
			if span.Min != p.Min || span.Before != p.Before {
				t.Errorf("%s in %s: %+v, and its partition has %+v", date(i-1), c.zone, span, p)
			}
		}
		// The last of them may be the day that has no midnight.
		for _, by := range []string{"day", "week", "month"} {
			answer(t, &cut, "partitions", "--by", by, "--dialect", "postgres", "--table", "o", "--tz", c.zone, "--from", date(-1), "--count", "2")
			if len(cut.Partitions) != 2 {
				t.Errorf("by %s, %s of %s: %+v, want 2 partitions", by, c.change, c.zone, cut.Partitions)
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
