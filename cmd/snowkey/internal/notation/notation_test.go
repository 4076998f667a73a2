package notation

import (
	"math"
	"strings"
	"testing"
)

func TestGuess(t *testing.T) {
	const id = 1996573624012345677
	for _, c := range []struct {
		text     string
		want     int64
		notation Notation
	}{
		{"1996573624012345677", id, Decimal},
		{"0", 0, Decimal},
		{"9223372036854775807", math.MaxInt64, Decimal},
		{"0x1bb54121fb2b914d", id, Hex},
		{"0X1BB54121FB2B914D", id, Hex},
		{"1bb54121fb2b914d", id, Hex},
		{"2NUKMIAa421", id, Base62}, // I is no digit of base 58
		{"00000abcde", 0xabcde, Hex},
		{"1QDA147XJQ4AD", id, Base32},
		{"1qda147xjq4ad", id, Base32},
		{"12345678912", 12345678912, Decimal}, // which base 58 and 62 would take as well
		{"0x123456789", 0x123456789, Hex},     // 11 characters that base 62 would take
		{"1234567890123", 1234567890123, Decimal},
	} {
		got, as, err := Guess(c.text, false)
		if err != nil || got != c.want || as != c.notation {
			t.Errorf("Guess(%q) = %d, %s, %v, want %d as %s", c.text, got, as, err, c.want, c.notation)
		}
	}
	for text, says := range map[string]string{
		"": "empty", "x": "no id", "-5": "negative", "007": "no id", "9223372036854775808": "largest", "0x": "hexadecimal", "0x8000000000000000": "largest",
		"0x10000000000000000": "64 bits", "0x+1": "hexadecimal", "1 2": "no id", "1.5": "no id", "1e5": "exponent", "12345678e12": "exponent", "zzzzzzzzzzzzz": "no id", "-": "decimal",
		"00000000001": "hex for 1 or base62 for 1", "-0": "no id",
		"5doYnWboBWc":   "base58 for 1996573624012345677 or base62 for 4735482757908314898",
		"1abcdef1234":   "hex for 1837406032436 or base58 for 249545557820721819 or base62 for ",
		"1abcdef123456": "hex for 470375944303702 or base32 for ",
	} {
		if got, as, err := Guess(text, false); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("Guess(%q) = %v, %s, %v, want an error that says %q", text, got, as, err, says)
		}
	}
	for text, want := range map[string]int64{"18446744073709551615": -1, "-1": -1, "0xffffffffffffffff": -1, "9223372036854775808": math.MinInt64, "-9223372036854775808": math.MinInt64} {
		if got, _, err := Guess(text, true); err != nil || got != want {
			t.Errorf("Guess(%q), unsigned = %v, %v", text, got, err)
		}
	}
}

func TestSplit(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "  ": "", "1": "1", `"1","2"`: "1|2", `["1", '2', 3]`: "1|2|3", "\ufeff1\r\n": "1", "1;2\t3": "1|2|3", `""`: "", "`7`": "7", `"`: `"`,
	} {
		if got := strings.Join(Split(text), "|"); got != want {
			t.Errorf("Split(%q) = %q, want %q", text, got, want)
		}
	}
}

// What is read in a notation and written in it again is the same id, and no other
// notation makes another id of it unless its digits or 0x say what it is.
func FuzzGuess(f *testing.F) {
	for _, s := range []string{"", "1996573624012345677", "0x1bb54121fb2b914d", "5doYnWboBWc", "2NUKMIAa421", "1QDA147XJQ4AD", "18446744073709551615", "-1", "007", "0x", "1e5", "\x00"} {
		f.Add(s, false)
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, text string, unsigned bool) {
		id, as, err := Guess(text, unsigned)
		if err == nil {
			if !unsigned && id < 0 {
				t.Fatalf("negative: %d", id)
			}
			if again, err := as.Read(text, unsigned); err != nil || again != id {
				t.Fatalf("Read = %d, %v, want %d", again, err, id)
			}
			if again, err := as.Read(as.Text(id, unsigned), unsigned); err != nil || again != id {
				t.Fatalf("written and read again: %d, %v, want %d", again, err, id)
			}
			for _, other := range []Notation{Base58, Base62, Base32} {
				if _, err := other.Read(text, unsigned); err == nil && other != as && as != Decimal && !strings.HasPrefix(strings.ToLower(text), "0x") {
					t.Fatalf("%q is taken as %s and is %s as well", text, as, other)
				}
			}
		}
		for _, part := range Split(text) {
			if part == "" {
				t.Fatal("an empty part")
			}
		}
		_ = Quote(text)
	})
}

// Every id comes back from every notation, or is refused for being another's as well.
func FuzzRoundTrip(f *testing.F) {
	f.Add(int64(0))
	f.Add(int64(math.MaxInt64))
	f.Add(int64(1996573624012345677))
	f.Fuzz(func(t *testing.T, id int64) {
		for _, n := range All() {
			unsigned := id < 0
			if unsigned && n.Signed() {
				continue
			}
			text := n.Text(id, unsigned)
			got, as, err := Guess(text, unsigned)
			switch digits := strings.Trim(text, "0123456789") == ""; {
			case digits && as == Decimal && err == nil: // a short form of digits alone
			case err != nil && (strings.Contains(err.Error(), string(n)+" for ") || exponent.MatchString(text)):
			case err != nil || got != id || as != n:
				t.Fatalf("%d as %s is read as %d, %s, %v", id, n, got, as, err)
			}
		}
	})
}
