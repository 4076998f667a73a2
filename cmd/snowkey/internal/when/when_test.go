package when

import (
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the zones, whatever the machine has
)

func TestParse(t *testing.T) {
	vienna, err := time.LoadLocation("Europe/Vienna")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 20, 23, 30, 0, 0, time.UTC) // the 21st in Vienna
	for text, want := range map[string]string{
		"now": "2026-11-20T23:30:00Z", "NOW": "2026-11-20T23:30:00Z", " now ": "2026-11-20T23:30:00Z",
		"today": "2026-11-20T23:00:00Z", "yesterday": "2026-11-19T23:00:00Z", "tomorrow": "2026-11-21T23:00:00Z",
		"2026-11-01": "2026-10-31T23:00:00Z", "2026-07-01": "2026-06-30T22:00:00Z", "2026-11": "2026-10-31T23:00:00Z",
		"2026-11-01T12:00": "2026-11-01T11:00:00Z", "2026-11-01 12:00:05.25": "2026-11-01T11:00:05.25Z", "2026-11-01T12:00:00Z": "2026-11-01T12:00:00Z",
		"2026-11-01t12:00:00-02:00": "2026-11-01T14:00:00Z", "-24h": "2026-11-19T23:30:00Z", "+7d": "2026-11-27T23:30:00Z", "-1d12h30m": "2026-11-19T11:00:00Z", "+1w2ms": "2026-11-27T23:30:00.002Z",
		"@0": "1970-01-01T00:00:00Z", "@1767225600.5": "2026-01-01T00:00:00.5Z", "@-1.5": "1969-12-31T23:59:58.5Z",
	} {
		got, err := Parse(text, now, vienna)
		if err != nil || got.UTC().Format(time.RFC3339Nano) != want {
			t.Errorf("Parse(%q) = %v, %v, want %s", text, got.UTC(), err, want)
		}
	}
	for _, text := range []string{"", "never", "-", "+", "-5", "-h", "-5x", "5h", "-99999w", "-99999999999999999999h", "@", "@x", "@1.", "@1.x", "@99999999999999", "2026-02-30", "2026-13-01", "24:00", "-1h ago"} {
		if got, err := Parse(text, now, vienna); err == nil || !got.IsZero() {
			t.Errorf("Parse(%q) = %v, %v, want an error", text, got, err)
		}
	}
	if _, err := Parse("-400y", now, vienna); err == nil || !strings.Contains(err.Error(), `"400y"`) {
		t.Errorf("%v does not quote what it refuses", err)
	}
}

// Clocks are set forward over some times, and show others twice; the first counts.
// So a day begins where it begins, and ends where the next one does.
func TestChangesOfClocks(t *testing.T) {
	for _, c := range []struct{ zone, text, want string }{
		{"America/Santiago", "2026-09-05", "2026-09-05T00:00:00-04:00"},
		{"America/Santiago", "2026-09-06", "2026-09-06T01:00:00-03:00"}, // has no midnight
		{"America/Santiago", "2026-09-06T00:59:59.999", "2026-09-06T01:00:00-03:00"},
		{"America/Santiago", "2026-09-06T01:00", "2026-09-06T01:00:00-03:00"},
		{"America/Santiago", "2026-09-07", "2026-09-07T00:00:00-03:00"},
		{"America/Santiago", "2026-04-04T23:30", "2026-04-04T23:30:00-03:00"}, // comes twice
		{"America/Santiago", "2026-04-05", "2026-04-05T00:00:00-04:00"},
		{"America/Havana", "2026-03-08", "2026-03-08T01:00:00-04:00"},
		{"America/Havana", "2026-11-01", "2026-11-01T00:00:00-04:00"}, // has two midnights
		{"America/Havana", "2026-11-01T01:00", "2026-11-01T01:00:00-05:00"},
		{"Europe/Vienna", "2026-03-29T02:30", "2026-03-29T03:00:00+02:00"},
		{"Europe/Vienna", "2026-10-25T02:30", "2026-10-25T02:30:00+02:00"},
		{"Europe/Dublin", "2026-10-25T01:30", "2026-10-25T01:30:00+01:00"}, // winter is the saving there
		{"Australia/Lord_Howe", "2026-10-04T02:15", "2026-10-04T02:30:00+11:00"},
		{"Australia/Lord_Howe", "2026-04-05T01:45", "2026-04-05T01:45:00+11:00"},
		{"Pacific/Apia", "2011-12-30", "2011-12-31T00:00:00+14:00"}, // a day that never was
		{"Pacific/Apia", "2011-12-30T23:59", "2011-12-31T00:00:00+14:00"},
		{"Pacific/Apia", "2011-12-29T23:59", "2011-12-29T23:59:00-10:00"},
		{"Asia/Kolkata", "2026-11-21", "2026-11-21T00:00:00+05:30"},
		{"UTC", "2026-11-21T12:00", "2026-11-21T12:00:00Z"},
	} {
		loc, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Parse(c.text, time.Time{}, loc); err != nil || got.Format(time.RFC3339Nano) != c.want {
			t.Errorf("%s in %s: %v, %v, want %s", c.text, c.zone, got, err, c.want)
		}
		if len(c.text) != len(time.DateOnly) || c.zone == "Pacific/Apia" {
			continue
		}
		// The same day, by the word for it.
		noon, err := Parse(c.text+"T12:00", time.Time{}, loc)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Parse("today", noon, loc); err != nil || got.Format(time.RFC3339Nano) != c.want {
			t.Errorf("today, %s in %s: %v, %v, want %s", c.text, c.zone, got, err, c.want)
		}
		if got, err := Parse("tomorrow", noon.Add(-24*time.Hour), loc); err != nil || got.Format(time.RFC3339Nano) != c.want {
			t.Errorf("tomorrow is %s in %s: %v, %v, want %s", c.text, c.zone, got, err, c.want)
		}
	}
}

// No text makes it panic, and a time that is read as RFC 3339 is that time.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"now", "-24h", "@1.5", "2026-11-01", "2026-11-01T12:00:00Z", "+1w1d1h1m1s1ms", "-9999999w"} {
		f.Add(s)
	}
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		got, err := Parse(text, now, time.UTC)
		if want, bad := time.Parse(time.RFC3339Nano, text); bad == nil && (err != nil || !got.Equal(want)) {
			t.Errorf("%v, %v, want %v", got, err, want)
		}
		if err != nil && !got.IsZero() {
			t.Errorf("%v beside %v", got, err)
		}
	})
}
