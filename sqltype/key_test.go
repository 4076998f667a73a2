package sqltype

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
)

type (
	plainRow    struct{ ID Key[plainRow] }
	prefixedRow struct {
		ID     Key[prefixedRow]
		Parent NullKey[prefixedRow]
	}
	byValueRow struct{ ID Key[byValueRow] }
)

func (*prefixedRow) KeyForm() Form { return Form{Prefix: "row"} }
func (byValueRow) KeyForm() Form   { return Form{Prefix: "by_value"} }

func TestKeyText(t *testing.T) {
	for name, tt := range map[string]struct {
		key  fmt.Stringer
		want string
	}{
		"decimal":  {Key[plainRow](1996573624012345677), "1996573624012345677"},
		"prefixed": {Key[prefixedRow](1996573624012345677), "row_1qda147xjq4ad"},
		"by value": {Key[byValueRow](0), "by_value_0000000000000"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tt.key.String(); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestKeyJSON(t *testing.T) {
	row := prefixedRow{ID: 7, Parent: NullKey[prefixedRow]{Key: 6, Valid: true}}
	b, err := json.Marshal(row)
	if want := `{"ID":"row_0000000000007","Parent":"row_0000000000006"}`; err != nil || string(b) != want {
		t.Fatalf("got %s, %v, want %s", b, err, want)
	}
	var read prefixedRow
	if err := json.Unmarshal(b, &read); err != nil || read != row {
		t.Fatalf("got %+v, %v", read, err)
	}
	for in, want := range map[string]error{`7`: ErrSyntax, `"7"`: ErrPrefix, `"by_value_0000000000007"`: ErrPrefix, `"row_7"`: ErrSyntax} {
		if err := json.Unmarshal([]byte(in), &read.ID); !errors.Is(err, want) || read.ID != 7 {
			t.Errorf("%s: got %v, want %v", in, err, want)
		} else {
			t.Log(err)
		}
	}
}
