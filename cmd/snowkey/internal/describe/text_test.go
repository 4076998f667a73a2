package describe

import (
	"slices"
	"testing"
)

// What is read in a format and written in it again is the same id, and no other format
// reads the text, unless its digits or 0x mark it.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"", "1996573624012345677", "0x1bb54121fb2b914d", "5doYnWboBWc", "a111111X111", "2NUKMIAa421", "1QDA147XJQ4AD", "18446744073709551615", "-1", "007", "0x", "1e5", "\x00", `"7",`, "dead", "ord_1qda147xjq4ad", "_ord_"} {
		f.Add(s, false)
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, text string, unsigned bool) {
		id, found, err := Parse(text, Auto, unsigned)
		if err == nil && !unsigned && id < 0 {
			t.Fatalf("negative: %d", id)
		}
		readings := 0
		formats := append(Formats(), "ord_")
		if err == nil && !slices.Contains(formats, found) {
			formats = append(formats, found)
		}
		for _, format := range formats {
			n, _, readErr := Parse(text, format, unsigned)
			if readErr != nil {
				continue
			}
			if again, _, err := Parse(format.Text(n, unsigned), format, unsigned); err != nil || again != n {
				t.Fatalf("%q as %s is %d; written and read again: %d, %v", text, format, n, again, err)
			}
			if err == nil && format == found && n != id {
				t.Fatalf("%q is read as %d, and as %s it is %d", text, id, format, n)
			}
			if format.Signed() {
				readings++
			}
		}
		if err == nil && found.Signed() && readings != 1 {
			t.Fatalf("%q is read as %s, and has %d readings", text, found, readings)
		}
		for _, part := range Split(text) {
			if part == "" {
				t.Fatal("an empty part")
			}
		}
	})
}
