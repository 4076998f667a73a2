package ddl

import (
	"archive/zip"
	"encoding/binary"
	"io"
	"math"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seed-299c1d6b/snowkey/core"
)

// Places where midnight, or a whole day, was left out or came twice.
var places = []string{"UTC", "Europe/Berlin", "America/Sao_Paulo", "Asia/Beirut", "Pacific/Apia", "Asia/Kathmandu", "Africa/Cairo",
	"America/Havana", "Asia/Amman", "Asia/Gaza", "Pacific/Kwajalein", "Antarctica/Troll", "Australia/Lord_Howe", "America/Scoresbysund"}

func place0(t interface{ Fatal(...any) }, name string) *time.Location {
	l, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Wherever and whenever: the first partition holds from, the last holds the end, and there is
// no gap and no overlap; names differ, and Layout.Range has the same bounds.
func TestBoundsAreContiguous(t *testing.T) {
	layout := core.Layout{Epoch: time.Date(1960, 1, 1, 0, 0, 0, 0, time.UTC), TimeBits: 43, SequenceBits: 12}
	rapid.Check(t, func(t *rapid.T) {
		p := Partitioning{
			Dialect: Postgres, Layout: layout, Table: "orders",
			By:       rapid.SampledFrom([]Period{Day, Week, Month}).Draw(t, "by"),
			Location: place0(t, rapid.SampledFrom(places).Draw(t, "place")),
		}
		from := time.Unix(rapid.Int64Range(-300_000_000, 2_000_000_000).Draw(t, "from"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns"))
		to := from.Add(time.Duration(rapid.Int64Range(1, int64(90*24*time.Hour)).Draw(t, "span")))
		parts, err := p.Bounds(from, to)
		if err != nil {
			t.Fatal(err)
		}
		if len(parts) == 0 || parts[0].From.After(from) || !parts[0].To.After(from) ||
			parts[len(parts)-1].To.Before(to) || !parts[len(parts)-1].From.Before(to) {
			t.Fatalf("%v to %v: %+v", from, to, parts)
		}
		names := map[string]bool{}
		for i, part := range parts {
			if i > 0 && (part.Min != parts[i-1].Max || !part.From.Equal(parts[i-1].To)) {
				t.Fatalf("%+v does not follow %+v", part, parts[i-1])
			}
			if low, high, err := layout.Range(part.From, part.To); err != nil || low != part.Min || high != part.Max {
				t.Fatalf("%+v, want %d to %d, %v", part, low, high, err)
			}
			if names[part.Name] {
				t.Fatalf("%s is listed twice in %+v", part.Name, parts)
			}
			names[part.Name] = true
		}
	})
}

// Names and lengths of periods; TestDaysBeginWithTheirFirstInstant has all zones.
func TestPeriodsOfTheCalendar(t *testing.T) {
	for _, c := range []struct {
		by          Period
		place, at   string
		name, start string // of the period that holds at
		hours       float64
	}{
		{Day, "UTC", "2026-11-21T23:59:59Z", "p20261121", "2026-11-21T00:00:00Z", 24},
		{Day, "America/Sao_Paulo", "2018-11-04T12:00:00Z", "p20181104", "2018-11-04T01:00:00-02:00", 23}, // no midnight
		{Day, "Pacific/Apia", "2011-12-31T09:00:00Z", "p20111231", "2011-12-31T00:00:00+14:00", 24},
		{Day, "America/St_Johns", "2010-11-07T02:45:00Z", "p20101107", "2010-11-07T00:00:00-02:30", 25},
		{Week, "UTC", "2026-11-22T23:00:00Z", "p2026w47", "2026-11-16T00:00:00Z", 168},
		{Week, "UTC", "2027-01-01T00:00:00Z", "p2026w53", "2026-12-28T00:00:00Z", 168},
		{Week, "UTC", "2024-12-30T00:00:00Z", "p2025w01", "2024-12-30T00:00:00Z", 168},
		{Month, "UTC", "2028-02-29T12:00:00Z", "p202802", "2028-02-01T00:00:00Z", 29 * 24},
		{Month, "Asia/Kathmandu", "2026-11-30T18:30:00Z", "p202612", "2026-12-01T00:00:00+05:45", 31 * 24},
	} {
		t.Run(c.name, func(t *testing.T) {
			at, err := time.Parse(time.RFC3339, c.at)
			if err != nil {
				t.Fatal(err)
			}
			parts, err := Partitioning{Dialect: MySQL, Table: "t", By: c.by, Location: place0(t, c.place)}.Bounds(at, at.Add(1))
			if err != nil || len(parts) != 1 {
				t.Fatalf("%+v: %+v, %v", c, parts, err)
			}
			got := parts[0]
			if got.Name != c.name || got.From.Format(time.RFC3339) != c.start || got.To.Sub(got.From).Hours() != c.hours {
				t.Errorf("%s of %s in %s: %s from %s for %v", c.by, c.at, c.place, got.Name, got.From.Format(time.RFC3339), got.To.Sub(got.From))
			}
		})
	}
}

// In every zone that Go knows, around each change of its clocks since
// 1971: a day begins with the first instant of its date.
func TestDaysBeginWithTheirFirstInstant(t *testing.T) {
	dates := 0
	for name, place := range zones(t) {
		compare := func(at time.Time, d date) int {
			y, m, day := at.In(place).Date()
			return time.Date(y, m, day, 0, 0, 0, 0, time.UTC).Compare(time.Time(d))
		}
		for at := time.Date(1971, 1, 1, 0, 0, 0, 0, place); at.Year() < 2040; {
			for n := -1; n <= 1; n++ {
				d := Day.move(Day.dateOf(at), n)
				starts := d.starts(place)
				// Clocks are set back by whole quarters of an hour, so these steps meet a midnight before.
				first := starts
				for back := time.Nanosecond; back < 26*time.Hour; back = (back + 15*time.Minute).Truncate(time.Minute) {
					if compare(starts.Add(-back), d) >= 0 {
						first = starts.Add(-back)
					}
				}
				if compare(starts, d) < 0 || !first.Equal(starts) {
					t.Errorf("%s, %s: starts %v, but %v is not before the date", name, time.Time(d).Format(time.DateOnly), starts, first.In(place))
				}
				dates++
			}
			_, end := at.ZoneBounds()
			if end.IsZero() {
				break
			}
			if !end.After(at) { // Go misses a few at the end of a year
				end = at.AddDate(0, 1, 0)
			}
			at = end
		}
	}
	if dates < 50_000 {
		t.Errorf("only %d dates were tried", dates)
	}
}

// zones returns the zones of Go's own tz database, each once.
func zones(t *testing.T) map[string]*time.Location {
	t.Helper()
	root, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	archive, err := zip.OpenReader(filepath.Join(strings.TrimSpace(string(root)), "lib", "time", "zoneinfo.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	all, seen := map[string]*time.Location{}, map[string]bool{}
	for _, f := range archive.File {
		if strings.HasSuffix(f.Name, "/") {
			continue
		}
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if seen[string(data)] {
			continue
		}
		seen[string(data)] = true
		if all[f.Name], err = time.LoadLocationFromTZData(f.Name, data); err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
	}
	if len(all) < 300 {
		t.Fatalf("there are %d zones", len(all))
	}
	return all
}

// Ticks longer than a day: days in which none begins have no partition, and the
// others follow one another all the same.
func TestLongTicks(t *testing.T) {
	l := core.Layout{Tick: 60 * time.Hour, TimeBits: 20, SequenceBits: 20, Epoch: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	parts, err := Partitioning{Dialect: MySQL, Layout: l, Table: "t", By: Day}.Bounds(l.Epoch, l.Epoch.AddDate(0, 0, 10))
	if err != nil || len(parts) != 4 {
		t.Fatalf("%+v, %v", parts, err)
	}
	for i, part := range parts {
		if part.Min != int64(i)<<20 || part.Max != int64(i+1)<<20 {
			t.Errorf("%+v", part)
		}
	}
}

// The layout's own ends.
func TestEndsOfTheLayout(t *testing.T) {
	twitter := core.Twitter()
	p := Partitioning{Dialect: MySQL, Table: "t", By: Day}
	parts, err := p.Bounds(twitter.Epoch, twitter.Epoch.Add(1))
	if err != nil || len(parts) != 1 || parts[0].Min != 0 || parts[0].Name != "p20101104" {
		t.Errorf("the epoch: %+v, %v", parts, err)
	}
	for _, at := range []time.Time{twitter.Epoch.Add(-1), twitter.End().Add(-time.Hour), twitter.End(), {}} {
		var out *core.RangeError
		if parts, err := p.Bounds(at, at.Add(1)); !asError(err, &out) {
			t.Errorf("%v: %+v, %v", at, parts, err)
		}
	}
	// A table can be made up to then, though not one that holds every later id.
	if _, err := p.Bounds(twitter.End().AddDate(0, 0, -2), twitter.End().AddDate(0, 0, -1)); err != nil {
		t.Error(err)
	}
	old, err := p.Before([]Partition{{Name: "low", Min: math.MinInt64, Max: 1 << 40}, {Name: "high", Min: 1 << 40, Max: math.MaxInt64}}, twitter.Epoch.AddDate(1, 0, 0))
	if err != nil || len(old) != 1 || old[0].Name != "low" {
		t.Errorf("%+v, %v", old, err)
	}
}

// A leap that begins before midnight and ends after it, east of Greenwich, as no
// zone has today: the day begins where the leap ends.
func TestLeapAcrossMidnight(t *testing.T) {
	leap := time.Date(2020, 6, 1, 21, 30, 0, 0, time.UTC) // 23:30 by +2, 00:30 by +3
	file := append([]byte("TZif"), make([]byte, 16)...)
	for _, n := range []int{0, 0, 0, 1, 2, 8, int(leap.Unix())} { // the counts, then the transition
		file = binary.BigEndian.AppendUint32(file, uint32(n))
	}
	file = append(file, 1)
	file = append(binary.BigEndian.AppendUint32(file, 2*3600), 0, 0)
	file = append(binary.BigEndian.AppendUint32(file, 3*3600), 1, 4)
	place, err := time.LoadLocationFromTZData("leap", append(file, "AAA\x00BBB\x00"...))
	if err != nil {
		t.Fatal(err)
	}
	parts, err := Partitioning{Dialect: MySQL, Table: "t", By: Day, Location: place}.Bounds(leap, leap.Add(1))
	if err != nil || len(parts) != 1 || !parts[0].From.Equal(leap) || parts[0].Name != "p20200602" {
		t.Errorf("%+v, %v", parts, err)
	}
}
