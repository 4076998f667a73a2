package serial_test

import (
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/serial"
)

// fuzzConfig makes a Config from numbers; most are valid.
func fuzzConfig(t testing.TB, a, b uint64, prefix string, kind uint16) serial.Config {
	f := serial.Config{
		Prefix: prefix, Layout: randomLayout(a, b), Fold: kind&1 == 1,
		Separator: []string{"", "-", "--", "./:_"}[kind>>2&3],
	}
	if kind&2 == 2 {
		f.Check = serial.Mod97 + serial.Scheme(kind>>4&3)
	}
	switch which := int(kind >> 6); {
	case which < len(zones):
		f.Location = zone(t, zones[which])
	case which%2 == 0:
		f.Location = time.FixedZone("fuzz", which*97-20_000)
	}
	return f
}

// FuzzDecode holds that Decode accepts exactly what Encode returns.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{"PAY-20261121153045123-0817-0042", "PAY2026112115304512308170042", "2026102502000000010000", "", "PAY", "20261025020000000x00000000", "PAY-20261121073045123-0817-0042-29"} {
		f.Add(s, uint64(0), uint64(0), "PAY", uint16(0))
		f.Add(s, uint64(9)<<40, uint64(1)<<20, "", uint16(1|1<<2))
	}
	f.Fuzz(func(t *testing.T, s string, a, b uint64, prefix string, kind uint16) {
		cfg := fuzzConfig(t, a, b, prefix, kind)
		if a == 0 {
			cfg.Layout = serial.Config{}.Layout
		}
		codec, err := serial.New(cfg)
		if err != nil {
			return
		}
		id, err := codec.Decode(s)
		if err != nil {
			if len(err.Error()) > 2000 {
				t.Fatalf("error of %d bytes", len(err.Error()))
			}
			return
		}
		if again, err := codec.Encode(id); err != nil || again != s {
			t.Fatalf("%+v: %q is %d, which is %q, %v", cfg, s, id, again, err)
		}
	})
}

// FuzzNumber holds that Parse accepts exactly what Format returns, in every zone, and that a
// period begins where Parse says.
func FuzzNumber(f *testing.F) {
	for _, s := range []string{"INV-20261121-000123", "INV202611-1", "20260230000001", "INV-000001"} {
		f.Add(s, "INV", uint8(0), uint8(6), "-", int64(123), int64(1795252245), uint8(99))
	}
	for i := range zones {
		f.Add("INV-20111230-000001", "INV", uint8(0), uint8(6), "-", int64(1), int64(1541300400), uint8(i))
	}
	f.Fuzz(func(t *testing.T, s, prefix string, period, digits uint8, separator string, number, when int64, where uint8) {
		cfg := serial.NumbersConfig{Prefix: prefix, Code: "A", Period: serial.Period(period), Digits: int(digits), Separator: separator}
		switch which := int(where); {
		case which < len(zones):
			cfg.Location = zone(t, zones[which])
		case which > 200:
			cfg.Location = time.FixedZone("fuzz", (which-228)*7919)
		}
		n, err := serial.NewNumbers(cfg)
		if err != nil {
			return
		}
		if start, value, err := n.Parse(s); err == nil {
			if again, err := n.Format(start, value); err != nil || again != s {
				t.Fatalf("%+v: %q is %v, %d, which is %q, %v", cfg, s, start, value, again, err)
			}
		}
		text, err := n.Format(time.Unix(when, 0), number)
		if err != nil {
			return
		}
		start, value, err := n.Parse(text)
		if err != nil || value != number || start.Unix() > when && cfg.Period != serial.Forever {
			t.Fatalf("%+v: %d at %d is %q and decodes to %v, %d, %v", cfg, number, when, text, start, value, err)
		}
		if before, err := n.Format(start.Add(-time.Second), number); cfg.Period != serial.Forever && err == nil && before == text {
			t.Fatalf("%+v: %q begins before %v", cfg, text, start)
		}
	})
}
