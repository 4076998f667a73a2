package serial_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the zones, whatever the machine has

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/serial"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	must(t, err)
	return loc
}

func compose(t testing.TB, l core.Layout, p core.Parts) int64 {
	t.Helper()
	id, err := l.Compose(p)
	must(t, err)
	return id
}

func at(t testing.TB, text string) time.Time {
	t.Helper()
	when, err := time.Parse(time.RFC3339Nano, text)
	must(t, err)
	return when
}

func codec(t testing.TB, cfg serial.Config) *serial.Codec {
	t.Helper()
	c, err := serial.New(cfg)
	must(t, err)
	return c
}

func validate(cfg serial.Config) error {
	_, err := serial.New(cfg)
	return err
}

// checkInverse encodes, compares, and decodes again.
func checkInverse(t testing.TB, c *serial.Codec, id int64, want string) {
	t.Helper()
	got, err := c.Encode(id)
	if err != nil || got != want && want != "" {
		t.Errorf("%d: %q, %v; want %q", id, got, err, want)
		return
	}
	if back, err := c.Decode(got); err != nil || back != id {
		t.Errorf("%q decodes to %d, %v; want %d", got, back, err, id)
	}
	if len(got) != c.Width() {
		t.Errorf("%q has %d characters, Width is %d", got, len(got), c.Width())
	}
}

func TestForms(t *testing.T) {
	shanghai := zone(t, "Asia/Shanghai")
	twitter := core.Twitter()
	pay := compose(t, twitter, core.Parts{Time: at(t, "2026-11-21T15:30:45.123+08:00"), Datacenter: 25, Worker: 17, Sequence: 42})
	rollback := core.Layout{TimeBits: 41, RollbackBits: 2, DatacenterBits: 3, WorkerBits: 5, SequenceBits: 12}
	aligned := core.Layout{Epoch: time.UnixMilli(1500000000007), Tick: 250 * time.Millisecond, TimeBits: 40, WorkerBits: 4, SequenceBits: 10, SequenceFirst: true}
	for _, c := range []struct {
		name string
		cfg  serial.Config
		id   int64
		want string
	}{
		{"a payment", serial.Config{Prefix: "PAY", Location: shanghai}, pay, "PAY2026112115304512308170042"},
		{"check", serial.Config{Prefix: "PAY", Location: shanghai, Check: serial.Mod97}, pay, "PAY202611211530451230817004229"},
		{"roll-back", serial.Config{Layout: rollback, Separator: "-"}, compose(t, rollback, core.Parts{Time: at(t, "2030-01-01T00:00:00Z"), Rollback: 3, Datacenter: 7, Worker: 31, Sequence: 4095}), "20300101000000000-3-255-4095"},
		{"instagram", serial.Config{Layout: core.Instagram(), Separator: "-"}, compose(t, core.Instagram(), core.Parts{Time: at(t, "2030-01-01T00:00:00Z"), Worker: 8191, Sequence: 1023}), "20300101000000000-8191-1023"},
		{"sonyflake", serial.Config{Layout: core.Sonyflake(), Separator: "-"}, compose(t, core.Sonyflake(), core.Parts{Time: at(t, "2030-01-01T00:00:00.019Z"), Worker: 65535, Sequence: 7}), "20300101000000010-007-65535"},
		{"seconds", serial.Config{Layout: core.Seconds(), Separator: "-"}, compose(t, core.Seconds(), core.Parts{Time: at(t, "2156-02-07T06:28:15Z"), Worker: 1, Sequence: 2}), "21560207062815000-0001-0000002"},
		{"its own tick", serial.Config{Layout: aligned, Separator: "/"}, 5<<14 | 1023<<4 | 15, "020170714024001257/1023/15"},
		{"the last millisecond of a year", serial.Config{Location: shanghai}, compose(t, twitter, core.Parts{Time: at(t, "2026-12-31T23:59:59.999+08:00")}), "2026123123595999900000000"},
		{"the end", serial.Config{}, 1<<63 - 1, "2080071017303020810234095"},
		{"a prefix with the separator", serial.Config{Prefix: "A-1-", Separator: "-"}, 0, "A-1--20101104014254657-0000-0000"},
		{"an offset of seconds", serial.Config{Location: time.FixedZone("odd", -(3*3600 + 17))}, 0, "2010110322423765700000000"},
		{"an offset of years", serial.Config{Location: time.FixedZone("far", 366*86400)}, 0, "2011110501425465700000000"},
	} {
		t.Run(c.name, func(t *testing.T) { checkInverse(t, codec(t, c.cfg), c.id, c.want) })
	}
}

// shown computes a serial in another way: by package time, and the layout's own parts. It
// has no check characters; yearDigits is the width of the year.
func shown(t testing.TB, f serial.Config, id int64, yearDigits int, fold string) string {
	t.Helper()
	if yearDigits > 9 && strconv.IntSize == 32 {
		return "" // there package time has no such year, so nothing can be compared
	}
	parts, err := f.Layout.Decode(id)
	must(t, err)
	l, when := f.Layout.WithDefaults(), parts.Time
	if f.Location != nil {
		when = when.In(f.Location)
	}
	width := func(bits uint8) int { return len(fmt.Sprint(uint64(1)<<bits - 1)) }
	groups := []string{fmt.Sprintf("%0*d", yearDigits, when.Year()) + strings.ReplaceAll(when.Format("0102150405.000"), ".", "") + fold}
	if f.Prefix != "" {
		groups = append([]string{f.Prefix}, groups...)
	}
	if l.RollbackBits > 0 {
		groups = append(groups, fmt.Sprintf("%0*d", width(l.RollbackBits), parts.Rollback))
	}
	var worker, sequence []string
	if bits := l.DatacenterBits + l.WorkerBits; bits > 0 {
		worker = append(worker, fmt.Sprintf("%0*d", width(bits), parts.Datacenter<<l.WorkerBits|parts.Worker))
	}
	if l.SequenceBits > 0 {
		sequence = append(sequence, fmt.Sprintf("%0*d", width(l.SequenceBits), parts.Sequence))
	}
	if l.SequenceFirst {
		worker, sequence = sequence, worker
	}
	return strings.Join(slices.Concat(groups, worker, sequence), f.Separator)
}

// A layout may go on beyond the year 9999, or beyond 2^31, or have no field but the
// time: the width follows from its end.
func TestWideLayouts(t *testing.T) {
	for _, c := range []struct {
		layout     core.Layout
		yearDigits int
		width      int
	}{
		{core.Layout{TimeBits: 63}, 9, 22},
		{core.Layout{TimeBits: 64, Unsigned: true}, 9, 22},
		{core.Layout{Tick: 1000 * time.Second, TimeBits: 50}, 11, 24},
		{core.Layout{Epoch: at(t, "0001-01-01T00:00:00.001Z"), TimeBits: 48}, 4, 17},
		{core.Layout{Epoch: at(t, "0001-01-01T00:00:00.001Z"), TimeBits: 49}, 5, 18},
		{core.Layout{Epoch: at(t, "9999-12-31T23:59:59.998Z"), TimeBits: 1}, 4, 17},
		{core.Layout{Epoch: at(t, "9999-12-31T23:59:59.999Z"), TimeBits: 1}, 5, 18},
		{core.Layout{TimeBits: 1, WorkerBits: 62}, 4, 36},
		{core.Layout{TimeBits: 1, RollbackBits: 63, Unsigned: true}, 4, 36},
		{core.Layout{TimeBits: 2, DatacenterBits: 31, WorkerBits: 31, SequenceFirst: true, Unsigned: true}, 4, 36},
	} {
		t.Run(fmt.Sprint(c.layout), func(t *testing.T) {
			f := serial.Config{Layout: c.layout}
			made := codec(t, f)
			bits := c.layout.TimeBits + c.layout.RollbackBits + c.layout.DatacenterBits + c.layout.WorkerBits + c.layout.SequenceBits
			top := int64(1<<bits - 1)
			if bits == 64 {
				top = -1
			}
			if made.Width() != c.width {
				t.Errorf("%v: a width of %d, want %d", c.layout, made.Width(), c.width)
			}
			for i := range int64(500) {
				id := rand.Int64() & top
				if i < 4 {
					id = []int64{0, 1, top - 1, top}[i] & top
				}
				checkInverse(t, made, id, shown(t, f, id, c.yearDigits, ""))
			}
		})
	}
}

// Every preset and many layouts, in zones of all kinds.
func TestInverse(t *testing.T) {
	var layouts []core.Layout
	for _, p := range core.Presets() {
		layouts = append(layouts, p.Layout)
	}
	for range 60 {
		layouts = append(layouts, randomLayout(rand.Uint64(), rand.Uint64()))
	}
	for i, l := range layouts {
		for _, name := range []string{"", "Asia/Kolkata", "Europe/Berlin", "America/St_Johns", "Australia/Lord_Howe", "Pacific/Apia"} {
			f := serial.Config{Prefix: "X1", Layout: l, Location: zone(t, name), Fold: name != "" && name != "Asia/Kolkata", Check: serial.Scheme(i % 5), Separator: "-:"[:i%3]}
			if name == "Asia/Kolkata" && l.Epoch.Year() < 1946 {
				f.Fold = true
			}
			c, plain := codec(t, f), f
			plain.Check = serial.NoCheck
			unchecked := codec(t, plain)
			for range 40 {
				id := randomID(l, rand.Uint64(), rand.Uint64())
				checkInverse(t, c, id, "")
				if !f.Fold {
					checkInverse(t, unchecked, id, shown(t, plain, id, yearDigits(plain), ""))
				}
			}
		}
	}
}

// yearDigits follows from the layout's end.
func yearDigits(f serial.Config) int {
	l := f.Layout.WithDefaults()
	return max(4, len(fmt.Sprint(l.End().Add(-l.Tick).In(f.Location).Year())))
}

// randomLayout is a valid layout made of random numbers.
func randomLayout(a, b uint64) core.Layout {
	l := core.Layout{
		Epoch:    time.UnixMilli(int64(a % (1 << 41))).UTC(),
		Tick:     time.Duration([]int64{1, 1, 10, 1000, 7, 60_000}[b%6]) * time.Millisecond,
		TimeBits: uint8(20 + b>>3%29), SequenceFirst: a>>41&1 == 1, Unsigned: a>>42&1 == 1,
	}
	left := 63 - l.TimeBits
	if l.Unsigned {
		left++
	}
	for i, width := range []*uint8{&l.RollbackBits, &l.DatacenterBits, &l.WorkerBits, &l.SequenceBits} {
		*width = uint8(b >> (10 + 6*i) % (uint64(left) + 1))
		left -= *width
	}
	return l
}

// randomID is an id of the layout, at an edge of its time or anywhere.
func randomID(l core.Layout, a, b uint64) int64 {
	below := l.RollbackBits + l.DatacenterBits + l.WorkerBits + l.SequenceBits
	tick := b & (1<<l.TimeBits - 1)
	switch b >> 61 {
	case 0:
		tick = b & 3
	case 1:
		tick = 1<<l.TimeBits - 1 - b&3
	}
	return int64(tick<<below | a&(1<<below-1))
}

// In a zone without changes, strings sort as the ids do: of all workers, also where
// the sequence comes first, and where the ids use the sign bit.
func TestOrder(t *testing.T) {
	layouts := []core.Layout{core.Twitter(), core.Sonyflake(), core.Mastodon(), {TimeBits: 30, RollbackBits: 3, DatacenterBits: 4, WorkerBits: 9, SequenceBits: 18, SequenceFirst: true, Unsigned: true}}
	for range 20 {
		layouts = append(layouts, randomLayout(rand.Uint64(), rand.Uint64()))
	}
	for i, l := range layouts {
		c, err := serial.New(serial.Config{Layout: l, Prefix: "P", Separator: "--"[:i%3], Check: serial.Scheme(i % 2), Location: time.FixedZone("", 3600*(i%24-12))})
		must(t, err)
		var ids []uint64
		near := randomID(l, rand.Uint64(), rand.Uint64())
		for range 300 {
			ids = append(ids, uint64(randomID(l, rand.Uint64(), rand.Uint64())), uint64(near)^rand.Uint64N(16))
		}
		slices.Sort(ids)
		ids = slices.Compact(ids)
		var before string
		for _, id := range ids {
			s, err := c.Encode(int64(id))
			must(t, err)
			if s <= before {
				t.Fatalf("%v: %q comes after %q", l, s, before)
			}
			before = s
		}
	}
}

// An ID outside the layout is an error, not another serial.
func TestForeignIDs(t *testing.T) {
	small := core.JavaScriptSafe()
	for _, c := range []struct {
		layout core.Layout
		id     int64
	}{{core.Twitter(), -1}, {small, -1}, {small, 1 << 53}, {core.Layout{TimeBits: 10, Unsigned: true}, -1}} {
		t.Run(fmt.Sprint(c.layout), func(t *testing.T) {
			codec := codec(t, serial.Config{Layout: c.layout})
			s, err := codec.Encode(c.id)
			var bounds *core.RangeError
			if !errors.As(err, &bounds) || s != "" {
				t.Errorf("%d: %q, %v", c.id, s, err)
			}
			if b, err := codec.AppendEncode([]byte("kept"), c.id); err == nil || string(b) != "kept" {
				t.Errorf("%q, %v", b, err)
			}
		})
	}
}

func TestConfigErrors(t *testing.T) {
	berlin := zone(t, "Europe/Berlin")
	for _, c := range []struct {
		cfg  serial.Config
		want []string // a piece of each fault, in their order
	}{
		{serial.Config{}, nil},
		{serial.Config{Prefix: strings.Repeat("x", 32), Separator: "-_.:"}, nil},
		{serial.Config{Prefix: "A B"}, []string{`Prefix "A B": must have at most 32 visible ASCII characters`}},
		{serial.Config{Separator: "0"}, []string{`Separator "0": must have at most 4`}},
		{serial.Config{Location: time.Local}, []string{"Location Local: must be a named zone"}},
		{serial.Config{Location: berlin}, []string{"Location Europe/Berlin: changes its offset from 1h0m0s to 2h0m0s at 2011-03-27T01:00:00Z, so a time may occur twice: set Fold"}},
		{serial.Config{Location: berlin, Fold: true}, nil},
		{serial.Config{Location: zone(t, "Asia/Shanghai"), Layout: core.Mastodon()}, []string{"at 1986-05-03T18:00:00Z"}},
		{serial.Config{Check: 5}, []string{"Check Scheme(5): must be NoCheck, Mod97"}},
		{serial.Config{Layout: core.Layout{Epoch: at(t, "0001-01-01T00:00:00.001Z"), TimeBits: 41}, Location: time.FixedZone("w", -366*86400)}, nil},
		{serial.Config{Layout: core.Layout{Epoch: at(t, "0001-01-01T00:00:00.001Z"), TimeBits: 41}, Location: time.FixedZone("w", -366*86400-1)}, []string{`Layout.Epoch "0001-01-01T00:00:00Z": is before the year 0 in w`}},
		{
			serial.Config{Prefix: "A B", Separator: "12345", Layout: core.Layout{TimeBits: 60, WorkerBits: 10, Tick: time.Microsecond}, Location: time.Local, Check: 7},
			[]string{"Prefix", "Layout.Tick", "Layout.TimeBits+", "Location", "Separator", "Check"},
		},
	} {
		t.Run(fmt.Sprint(c.want), func(t *testing.T) {
			codec, err := serial.New(c.cfg)
			checkConfig(t, codec != nil, err, c.want)
		})
	}
}

// checkConfig compares the faults of a configuration, in their order, with pieces of them. One with
// faults makes nothing.
func checkConfig(t *testing.T, made bool, err error, want []string) {
	t.Helper()
	if len(want) == 0 {
		must(t, err)
		return
	}
	var config *core.ConfigError
	if !errors.As(err, &config) || len(config.Fields) != len(want) || made {
		t.Fatalf("%v, want %q", err, want)
	}
	for i, f := range config.Fields {
		if !strings.Contains(f.String(), want[i]) {
			t.Errorf("%s, want %s", f, want[i])
		}
	}
}

// The methods of what New and NewNumbers have not made return errors.
func TestZero(t *testing.T) {
	for _, c := range []*serial.Codec{nil, {}} {
		s, err := c.Encode(1)
		id, noID := c.Decode("2026112107304512308170042")
		typed, noTyped := c.DecodeTyped("1")
		if s != "" || err == nil || id != 0 || noID == nil || typed != 0 || noTyped == nil || c.Width() != 0 || c.Config().Prefix != "" {
			t.Errorf("%q, %v; %d, %v; %d, %v", s, err, id, noID, typed, noTyped)
		}
	}
	for _, n := range []*serial.Numbers{nil, {}} {
		_, noNext := n.Next(t.Context())
		_, noNextIn := n.NextIn(t.Context(), &counter{})
		_, noText := n.Format(time.Now(), 1)
		_, _, noNumber := n.Parse("INV-20261121-000123")
		_, _, noTyped := n.ParseTyped("1")
		for _, err := range []error{noNext, noNextIn, noText, noNumber, noTyped} {
			if err == nil || n.Width() != 0 {
				t.Errorf("%v, %v, %v, %v, %v", noNext, noNextIn, noText, noNumber, noTyped)
			}
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
