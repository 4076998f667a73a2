package when

import (
	"strings"
	"testing"
	"time"
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
