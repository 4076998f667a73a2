package serial_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/serial"
)

func TestDecodeTyped(t *testing.T) {
	pay := serial.Config{Prefix: "PAY", Separator: "-", Check: serial.Mod97}
	const id = 2124042817363972138
	for _, c := range []struct {
		name, text string
		cfg        serial.Config
	}{
		{"as written", "PAY-20261121073045123-0817-0042-42", pay},
		{"spaces", "  PAY 20261121 0730 45 123\t0817 0042 42\r\n", pay},
		{"other dashes", "PAY\u201020261121073045123\u20110817\u22120042\u201442", pay},
		{"letters for digits", "PAY-2o26ll2lO73O45I23-O8I7-0042-42", pay},
		{"full width", "ＰＡＹ－２０２６１１２１０７３０４５１２３－０８１７－００４２－４２", pay},
		{"invisible", "\ufeffPAY-2026\u00ad1121073045123-0817-\u200b0042-42\u200e", pay},
		{"separators of two", "20261121073045123-0817./0042", serial.Config{Separator: "./"}},
		{"prefix with letters like digits", "0IL-2026 1121073045123 0817 0042", serial.Config{Prefix: "OIL-"}},
		{"prefix of digits", "77 20261121073045123 0817 0042", serial.Config{Prefix: "77"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, err := codec(t, c.cfg).DecodeTyped(c.text); err != nil || got != id {
				t.Errorf("%q: %d, %v, want %d", c.text, got, err, int64(id))
			}
		})
	}
}

func TestDecodeTypedErrors(t *testing.T) {
	pay := serial.Config{Prefix: "PAY", Separator: "-", Check: serial.Mod97}
	for _, c := range []struct {
		cfg                       serial.Config
		text, part, value, reason string
	}{
		{pay, "pax-20261121073045123-0817-0042-42", "prefix", "PAX", `must be "PAY"`},
		{pay, "pay-20261121073045123-0817-0042-4", "length", "29", "must be 30 without spaces, dashes and separators"},
		{pay, "pay-20261121073045123-0817-0042-43", "check", "43", "does not match"},
		{pay, "pay-20261121073045123-0817-004b-42", "sequence", "004B", "must have digits only"},
		{pay, "pay_20261121073045123-0817-0042-42", "length", "", "must be"},
		{pay, "päy-20261121073045123-0817-0042-42", "character", "ä", "U+00E4 is not a letter"},
		{serial.Config{}, "2026022907304512308170042", "time", "20260229073045123", "there is no such date"},
	} {
		t.Run(c.text, func(t *testing.T) {
			id, err := codec(t, c.cfg).DecodeTyped(c.text)
			refused(t, id, err, serial.ParseError{Text: c.text, Part: c.part, Value: c.value, Reason: c.reason})
		})
	}
	if _, err := codec(t, pay).DecodeTyped("pay" + strings.Repeat("9", 1<<20)); err == nil || len(err.Error()) > 400 {
		t.Errorf("an error of %d bytes", len(err.Error()))
	}
}

func TestParseTyped(t *testing.T) {
	for _, c := range []struct {
		cfg  serial.NumbersConfig
		text string
		want string // as written
	}{
		{serial.NumbersConfig{Prefix: "INV", Separator: "-"}, "inv 2o26 ll 21 – 000123", "INV-20261121-000123"},
		{serial.NumbersConfig{Prefix: "INV", Separator: "/", Period: serial.Year, Digits: 4}, "Inv 2026/0042", "INV/2026/0042"},
		{serial.NumbersConfig{Prefix: "A", Period: serial.Forever, Digits: 5}, "a-oool7", "A00017"},
	} {
		t.Run(c.text, func(t *testing.T) {
			n, err := serial.NewNumbers(c.cfg)
			must(t, err)
			period, value, err := n.ParseTyped(c.text)
			must(t, err)
			if period.IsZero() {
				period = noon()
			}
			if again, err := n.Format(period, value); err != nil || again != c.want {
				t.Errorf("%q: %q, %v, want %q", c.text, again, err, c.want)
			}
			for _, bad := range []string{"", c.want + "1", c.want[1:], "é" + c.want, strings.Replace(c.want, c.want[len(c.want)-2:], "00", 1)[:len(c.want)-1] + "x"} {
				_, _, err := n.ParseTyped(bad)
				var parse *serial.ParseError
				if !errors.As(err, &parse) || parse.Text != bad {
					t.Errorf("%q: %v", bad, err)
				}
			}
		})
	}
}

// FuzzDecodeTyped holds that what Decode reads, DecodeTyped reads as the same, in any dress;
// and that it reads nothing whose digits differ from what Encode writes.
func FuzzDecodeTyped(f *testing.F) {
	for _, s := range []string{"PAY-20261121153045123-0817-0042", "pay 2026112115304512308170042", "2o261025020000000010000", "", "–", "ＰＡＹ２０２６"} {
		f.Add(s, uint64(0), uint64(0), "PAY", uint16(1<<2), uint64(2124042817363972138))
		f.Add(s, uint64(9)<<40, uint64(1)<<20, "", uint16(1|2|1<<2), uint64(7))
	}
	f.Fuzz(func(t *testing.T, s string, a, b uint64, prefix string, kind uint16, c uint64) {
		cfg := fuzzConfig(t, a, b, prefix, kind)
		if a == 0 {
			cfg.Layout = core.Layout{}
		}
		codec, err := serial.New(cfg)
		if err != nil {
			return
		}
		if text, err := codec.Encode(int64(c)); err == nil {
			dressed := " " + strings.ToLower(strings.ReplaceAll(text, "0", "o")) + " "
			if cfg.Separator != "" {
				dressed = strings.ReplaceAll(dressed, cfg.Separator, " – ")
			}
			for _, form := range []string{text, dressed} {
				if id, err := codec.DecodeTyped(form); err != nil || id != int64(c) {
					t.Fatalf("%+v: %q of %d: %d, %v", cfg, form, c, id, err)
				}
			}
		}
		id, err := codec.DecodeTyped(s)
		if err != nil {
			return
		}
		again, err := codec.Encode(id)
		if err != nil {
			t.Fatalf("%+v: %q is %d: %v", cfg, s, id, err)
		}
		if back, err := codec.DecodeTyped(again); err != nil || back != id {
			t.Fatalf("%+v: %q is %d, which is %q, which is %d, %v", cfg, s, id, again, back, err)
		}
		if strict, err := codec.Decode(s); err == nil && strict != id {
			t.Fatalf("%+v: %q is %d, and %d as typed", cfg, s, strict, id)
		}
	})
}
