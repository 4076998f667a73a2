package describe

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

func TestFormatOf(t *testing.T) {
	longest := strings.Repeat("x", 63)
	for text, want := range map[string]Format{
		"decimal": Decimal, "HEX": Hex, "Base32": Base32, "ord_": "ord_", "o_": "o_", "order_line_": "order_line_", longest + "_": Format(longest + "_"),
	} {
		if got, err := FormatOf(text); err != nil || got != want {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "_", "__", "auto", "ord", "Ord_", "_ord_", "ord__", "ord1_", "o rd_", "örd_", longest + "x_", "base64"} {
		if got, err := FormatOf(text); err == nil || err.Error() != "must be "+Forms {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}

type order struct{}

func (*order) KeyForm() sqltype.Form { return sqltype.Form{Prefix: "ord"} }

// A prefixed ID is the text of a sqltype.Key with that prefix.
func TestPrefixedKey(t *testing.T) {
	for _, id := range []int64{0, 1, 1996573624012345677, 1<<63 - 1} {
		text := Format("ord_").Text(id, false)
		if want := sqltype.Key[order](id).String(); text != want {
			t.Errorf("%d is %q, want %q", id, text, want)
		}
		if key, err := sqltype.ParseKey[order](text); err != nil || int64(key) != id {
			t.Errorf("%q is read as the key %d, %v", text, key.Int64(), err)
		}
	}
}

// Both read the same texts.
func FuzzPrefixed(f *testing.F) {
	for _, text := range []string{"ord_1qda147xjq4ad", "ORD_1QDA147XJQ4AD", "cus_1qda147xjq4ad", "ord_7", "ord_8000000000000", "ord_-1qda147xjq4ad", "Ord_lllllllllllll"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if text != Unquote(text) {
			return
		}
		id, _, err := Parse(text, "ord_", false)
		key, keyErr := sqltype.ParseKey[order](text)
		if (err == nil) != (keyErr == nil) || int64(key) != id {
			t.Errorf("%q is %d, %v, and the key %d, %v", text, id, err, key.Int64(), keyErr)
		}
		if errors.Is(keyErr, sqltype.ErrRange) && err.Error() != fmt.Sprintf("is above the largest ID, %d", int64(1<<63-1)) {
			t.Errorf("%q: %v", text, err)
		}
	})
}

func ExampleFormat() {
	format, err := FormatOf("ord_")
	if err != nil {
		panic(err)
	}
	fmt.Println(format.Text(1996573624012345677, false))
	fmt.Println(Parse("ORD_1QDA147XJQ4AD", Auto, false))
	fmt.Println(Parse("cus_1qda147xjq4ad", format, false))
	// Output:
	// ord_1qda147xjq4ad
	// 1996573624012345677 ord_ <nil>
	// 0  is not "ord_" and 13 digits of base32
}
