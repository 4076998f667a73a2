package serial_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/serial"
)

// Zones with changes of all kinds: of an hour and of half of one, of a whole day, by
// seconds, at the end of a year, of the standard time, and by a rule for ever.
var zones = []string{
	"Europe/Berlin", "Europe/Dublin", "Europe/Moscow", "Europe/Amsterdam", "Europe/Istanbul", "America/New_York", "America/Sao_Paulo", "America/St_Johns",
	"America/Caracas", "America/Scoresbysund", "America/Juneau", "Asia/Shanghai", "Asia/Tehran", "Asia/Manila", "Asia/Pyongyang", "Asia/Gaza", "Australia/Lord_Howe",
	"Africa/Casablanca", "Africa/Monrovia", "Antarctica/Troll", "Antarctica/Casey", "Pacific/Apia", "Pacific/Kwajalein", "Pacific/Kiritimati", "Pacific/Chatham",
}

// Around each change of each zone until 2110, every second shown comes back, and
// what is shown twice has two digits, the earlier one first.
func TestEveryChange(t *testing.T) {
	layout := core.Layout{Epoch: at(t, "1880-01-01T00:00:00Z"), Tick: time.Second, TimeBits: 33, SequenceBits: 2}
	twice := 0
	for _, name := range zones {
		loc := zone(t, name)
		c, err := serial.New(serial.Config{Layout: layout, Location: loc, Fold: true})
		must(t, err)
		write := func(when time.Time) string {
			t.Helper()
			id := compose(t, layout, core.Parts{Time: when, Sequence: 3})
			s, err := c.Encode(id)
			if err != nil {
				t.Fatalf("%s, %v: %v", name, when, err)
			}
			if !strings.HasPrefix(s, when.In(loc).Format("20060102150405")+"000") {
				t.Fatalf("%s, %v: %s", name, when.In(loc), s)
			}
			if back, err := c.Decode(s); err != nil || back != id {
				t.Fatalf("%s, %v: %s came back as %d, %v; want %d", name, when, s, back, err, id)
			}
			return s
		}
		changes := 0
		for when := layout.Epoch.AddDate(0, 0, 5).In(loc); when.Year() < 2110; {
			_, end := when.ZoneBounds()
			if end.IsZero() {
				break
			}
			if !end.After(when) {
				when = when.Add(time.Hour)
				continue
			}
			when = end
			_, before := end.Add(-time.Second).Zone()
			_, after := end.Zone()
			if before == after {
				continue
			}
			changes++
			for _, far := range []int{-86400, -90000, -before, -after, -3601, -3600, -1801, -1, 0, 1, 1799, 3599, 3600, 86400} {
				write(end.Add(time.Duration(far) * time.Second))
			}
			back := before - after
			for i := -1; i <= back; i += max(1, back/20) { // negative: there is a gap
				first := end.Add(time.Duration(i-back) * time.Second)
				second := end.Add(time.Duration(i) * time.Second)
				one, two := write(first), write(second)
				switch repeats := i >= 0 && i < back; {
				case repeats && (one[:17] != two[:17] || one[17] != '0' || two[17] != '1'):
					t.Fatalf("%s: %v and %v are %s and %s", name, first, second, one, two)
				case repeats:
					twice++
				}
			}
			if back < 0 { // what no clock has shown is refused
				gap := end.Add(time.Duration(-back/2) * time.Second).UTC().Add(time.Duration(before) * time.Second).Format("20060102150405")
				var parse *serial.ParseError
				if _, err := c.Decode(gap + "00003"); !errors.As(err, &parse) || parse.Part != "time" || !strings.Contains(parse.Reason, "clocks in "+name) {
					t.Errorf("%s: %s: %v", name, gap, err)
				}
			}
		}
		if changes == 0 {
			t.Errorf("%s never changes: the test shows nothing", name)
		}
	}
	if twice < 1000 {
		t.Errorf("only %d times were shown twice", twice)
	}
}

// A zone is taken by what it does in the layout's own time, to the second.
func TestZoneWithinLayout(t *testing.T) {
	moscow := zone(t, "Europe/Moscow") // its last change was at 2014-10-25T22:00:00Z
	layout := func(epoch string, bits uint8) core.Layout {
		return core.Layout{Epoch: at(t, epoch), Tick: time.Second, TimeBits: bits}
	}
	for _, c := range []struct {
		layout core.Layout
		ok     bool
	}{
		{layout("2014-10-25T22:00:00Z", 40), true},
		{layout("2014-10-25T21:59:59Z", 40), false},
		{layout("2014-10-25T21:59:59.999Z", 40), false},
		{layout("2014-10-25T21:59:56Z", 2), true}, // its last tick is 21:59:59
		{layout("2014-10-25T21:59:57Z", 2), false},
		{layout("2011-03-26T23:00:00Z", 20), true}, // twelve days after one change
	} {
		t.Run(fmt.Sprint(c.layout), func(t *testing.T) {
			err := validate(serial.Config{Layout: c.layout, Location: moscow})
			if (err == nil) != c.ok {
				t.Errorf("%v: %v", c.layout, err)
			}
		})
	}
	for _, name := range zones {
		if err := validate(serial.Config{Layout: core.Mastodon(), Location: zone(t, name)}); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	for _, name := range []string{"UTC", "Etc/GMT+12", "Asia/Kolkata", "Asia/Tokyo", "Asia/Shanghai", "Africa/Lagos", "America/Phoenix", "Asia/Dubai", "Asia/Singapore"} {
		if err := validate(serial.Config{Layout: core.Seconds(), Location: zone(t, name)}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
