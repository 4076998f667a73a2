package timetext

import (
	"encoding/json"
	"os"
	"testing"
	"time"
	_ "time/tzdata" // the zones, whatever the machine has
)

// The vectors hold for the page's times.js as well: internal/integration/browser runs them.
func TestVectors(t *testing.T) {
	text, err := os.ReadFile("../testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors struct {
		Now   time.Time
		Times []struct {
			Text, Time, Error string
			Fixed             bool
		}
	}
	if err := json.Unmarshal(text, &vectors); err != nil || len(vectors.Times) < 80 {
		t.Fatalf("%d times, %v", len(vectors.Times), err)
	}
	for _, v := range vectors.Times {
		got, err := Parse(v.Text, vectors.Now, time.UTC)
		switch {
		case v.Error == "" && (err != nil || got.UTC().Format(time.RFC3339Nano) != v.Time):
			t.Errorf("Parse(%q) = %v, %v, want %s", v.Text, got.UTC(), err, v.Time)
		case v.Error != "" && (err == nil || err.Error() != v.Error):
			t.Errorf("Parse(%q) = %v, %v, want the error %q", v.Text, got, err, v.Error)
		}
		if fixed, err := parseFixed(v.Text, time.UTC, errFixed); (err == nil) != v.Fixed || v.Fixed && !fixed.Equal(got) {
			t.Errorf("parseFixed(%q) = %v, %v, want %v", v.Text, fixed, err, v.Fixed)
		}
	}
}

func TestRelative(t *testing.T) {
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for d, want := range map[time.Duration]string{
		0: "now", 500 * time.Millisecond: "now", -2 * time.Second: "2 seconds ago", 90 * time.Second: "1 minute from now", time.Hour: "1 hour from now",
		-36 * time.Hour: "1 day ago", 400 * 24 * time.Hour: "1 year from now", 53 * 8766 * time.Hour: "53 years from now", -200 * 8766 * time.Hour: "200 years ago",
	} {
		if got := Relative(noon.Add(d), noon); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
	if got := Relative(noon.AddDate(5000, 1, 0), noon); got != "5,000 years from now" {
		t.Errorf("far away: %q", got)
	}
}

func TestLength(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 999: "999ns", 1234567: "1.23ms", 2*time.Second + 529*time.Millisecond: "2.53s", -time.Second: "-1s", 5*time.Minute + 1500*time.Millisecond: "5m2s",
		9*time.Hour + 59*time.Minute + 1: "9h59m0s", 14*time.Hour + 5*time.Minute + 20*time.Second: "14h5m", 48 * time.Hour: "2 days", -72 * time.Hour: "3 days",
		27255*time.Hour + 51*time.Minute: "3 years",
	} {
		if got := Length(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
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

// No text makes it panic, and what is written is read as the same time.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"now", "now-24h", "-24h", "@1.5", "2026-11-01", "2026-11-01T12:00:00Z", "+1w1d1h1m1s1ms", "-9999999w", "1769860800000", "2024-02-29T23:59:59.999999999+14:00"} {
		f.Add(s)
	}
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		got, err := Parse(text, now, time.UTC)
		if err != nil && !got.IsZero() {
			t.Errorf("%v next to %v", got, err)
		}
		if err != nil || got.UTC().Year() < 0 || got.UTC().Year() > 9999 {
			return
		}
		if again, err := Parse(got.UTC().Format(time.RFC3339Nano), now, time.UTC); err != nil || !again.Equal(got) {
			t.Errorf("%q is %v, and that is %v, %v", text, got, again, err)
		}
		if std, err := time.Parse(time.RFC3339Nano, text); err == nil && !std.Equal(got) {
			t.Errorf("%q is %v, want %v", text, got, std)
		}
	})
}
