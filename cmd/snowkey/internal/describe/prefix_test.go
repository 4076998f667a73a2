package describe

import (
	"fmt"
	"strings"
	"testing"
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
		if got, err := FormatOf(text); err == nil || !strings.HasPrefix(err.Error(), "must be "+Forms) {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	if _, err := FormatOf("ord"); !strings.HasSuffix(err.Error(), ": write ord_ for the prefix ord") {
		t.Errorf("a prefix without its underscore: %v", err)
	}
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
