package sqltype

import (
	"math"
	"strconv"
	"strings"
	"testing"
)

// canonical is the grammar by another road: what strconv reads and writes back
// unchanged, without the negative numbers.
func canonical(s string) (int64, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && n >= 0 && strconv.FormatInt(n, 10) == s
}

func FuzzParse(f *testing.F) {
	for _, tt := range texts {
		f.Add(tt.in)
	}
	f.Fuzz(func(t *testing.T, s string) {
		want, ok := canonical(s)
		got, err := Parse(s)
		if (err == nil) != ok || ok && got.Int64() != want {
			t.Fatalf("Parse(%q) = %d, %v; strconv: %d, %v", s, got, err, want, ok)
		}
		text, param, null := ID(42), ID(42), NullID{42, true}
		textErr, paramErr, nullErr := text.UnmarshalText([]byte(s)), param.UnmarshalParam(s), null.UnmarshalParam(s)
		if !ok {
			want = 42
		}
		if (textErr == nil) != ok || (paramErr == nil) != ok || text.Int64() != want || param.Int64() != want {
			t.Fatalf("%q: UnmarshalText %d, %v; UnmarshalParam %d, %v", s, text, textErr, param, paramErr)
		}
		if (nullErr == nil) != (ok || s == "") || null.Valid != (s != "") || null.Valid && null.ID.Int64() != want {
			t.Fatalf("%q: NullID %v, %v", s, null, nullErr)
		}
		if err != nil {
			if len(err.Error()) > 500 {
				t.Fatalf("error of %d bytes", len(err.Error()))
			}
			return
		}
		if got.String() != s {
			t.Fatalf("Parse(%q) is written %q", s, got)
		}
	})
}

func FuzzParseBase(f *testing.F) {
	for _, tt := range texts {
		f.Add(tt.in, int64(tt.want))
	}
	for _, base := range bases {
		for _, id := range []ID{0, 1, 1996573624012345677, math.MaxInt64, -1, math.MinInt64} {
			f.Add(base.write(id), int64(id))
		}
		f.Add(strings.Repeat(base.digits[len(base.digits)-1:], base.width), int64(7))
	}
	for _, s := range []string{"oOiIlL-uU*~=$", "1qda147xjq4ad", "IiLl0OoOoIiLl", "OOOOOOOOOOOOO", "UUUUUUUUUUUUU", "000000000000u", "1QDA-147X-JQ4AD"} {
		f.Add(s, int64(42))
	}
	f.Fuzz(func(t *testing.T, s string, n int64) {
		for _, base := range bases {
			want, ok := canonicalBase(s, base.digits, base.name == "base 32")
			got, err := base.parse(s)
			if (err == nil) != ok || ok && got.Int64() != want || !ok && got != 0 {
				t.Fatalf("%s: %q is %d, %v; math/big: %d, %v", base.name, s, got, err, want, ok)
			}
			if err != nil && len(err.Error()) > 500 {
				t.Fatalf("error of %d bytes", len(err.Error()))
			}
			if ok && base.name != "base 32" && base.write(got) != s {
				t.Fatalf("%s: %q is written %q", base.name, s, base.write(got))
			}
			text := base.write(ID(n))
			if back, err := base.parse(text); (err == nil) != (n >= 0) || n >= 0 && back.Int64() != n {
				t.Fatalf("%s: %d is written %q and read %d, %v", base.name, n, text, back, err)
			}
			if ok && n >= 0 && strings.Compare(base.write(got), text) != got.Compare(ID(n)) {
				t.Fatalf("%s: %d and %d sort otherwise as %q and %q", base.name, got, n, base.write(got), text)
			}
		}
	})
}

// A text is read as a prefixed key by the documented spellings only: any case, i and l for 1, o for 0.
func FuzzParseKey(f *testing.F) {
	for _, s := range []string{
		"row_1qda147xjq4ad", "ROW_1QDA147XJQ4AD", "row_lOi0000000000", "row_7zzzzzzzzzzzz", "row_8000000000000", "row_-0000000000007",
		"by_value_0000000000007", "by_row_0000000000007", "row_", "_", "", "0", maxText, "ſow_0000000000007", "row_000000000000\x00",
	} {
		f.Add(s, int64(len(s)))
	}
	f.Fuzz(func(t *testing.T, s string, n int64) {
		const prefix = "row_"
		var want int64
		ok := len(s) > len(prefix) && upperASCII(s[:len(prefix)]) == "ROW_"
		if ok {
			want, ok = canonicalBase(s[len(prefix):], digits32, true)
		}
		key, err := ParseKey[prefixedRow](s)
		if (err == nil) != ok || key.Int64() != want && ok || !ok && key != 0 {
			t.Fatalf("%q is %d, %v; want %d, %v", s, int64(key), err, want, ok)
		}
		if err != nil && len(err.Error()) > 500 {
			t.Fatalf("error of %d bytes", len(err.Error()))
		}
		other, otherErr := ParseKey[byValueRow](s)
		plain, plainErr := Parse(s)
		if ok && (otherErr == nil || plainErr == nil) {
			t.Fatalf("%q is the key %v of another type, or the id %v", s, other, plain)
		}
		bytes, param, null := Key[prefixedRow](42), Key[prefixedRow](42), NullKey[prefixedRow]{42, true}
		for _, err := range []error{bytes.UnmarshalText([]byte(s)), param.UnmarshalParam(s), null.UnmarshalText([]byte(s))} {
			if (err == nil) != ok && s != "" {
				t.Fatalf("%q: %v, want %v", s, err, ok)
			}
		}
		if ok && (bytes != key || param != key || null.Key != key) || !ok && (bytes != 42 || param != 42 || null.Key != 42 && s != "") {
			t.Fatalf("%q: %d, %d, %d", s, int64(bytes), int64(param), int64(null.Key))
		}

		text, err := Key[prefixedRow](n).MarshalText()
		if (err == nil) != (n >= 0) {
			t.Fatalf("%d is written %q, %v", n, text, err)
		}
		if n < 0 {
			return
		}
		if len(text) != len(prefix)+width32 || strings.ToLower(string(text)) != string(text) {
			t.Fatalf("%d is written %q", n, text)
		}
		for _, s := range []string{string(text), upperASCII(string(text))} {
			if back, err := ParseKey[prefixedRow](s); err != nil || back.Int64() != n {
				t.Fatalf("%d is written %q and read %d, %v", n, s, int64(back), err)
			}
		}
		if ok && strings.Compare(key.String(), string(text)) != key.Compare(Key[prefixedRow](n)) {
			t.Fatalf("%d and %d sort otherwise as %v and %s", int64(key), n, key, text)
		}
	})
}

func upperASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'a' <= c && c <= 'z' {
			b[i] -= 'a' - 'A'
		}
	}
	return string(b)
}
