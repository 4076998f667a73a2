package encoding

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/gocarina/gocsv"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

type csvRow struct {
	ID     ID     `csv:"id"`
	Parent NullID `csv:"parent"`
}

func TestCSV(t *testing.T) {
	rows := []csvRow{{1996573624012345677, NullID{ID: 8, Valid: true}}, {ID: 7}}
	const want = "id,parent\n1996573624012345677,8\n7,\n"
	text, err := gocsv.MarshalString(rows)
	if err != nil || text != want {
		t.Fatalf("%q, %v", text, err)
	}
	var back []csvRow
	if err := gocsv.UnmarshalString(text, &back); err != nil || !reflect.DeepEqual(back, rows) {
		t.Errorf("%+v, %v", back, err)
	}
	if text, err := gocsv.MarshalString([]csvRow{{ID: -7}}); !errors.Is(err, sqltype.ErrNegative) {
		t.Errorf("negative: %q, %v", text, err)
	}
	for in, want := range map[string]error{
		"007,": sqltype.ErrSyntax, "-7,": sqltype.ErrNegative, ",": sqltype.ErrSyntax, "1.99657362401235E+18,": sqltype.ErrSyntax, // a spreadsheet's doing
		"7,x": sqltype.ErrSyntax, "7,9223372036854775808": sqltype.ErrRange,
	} {
		t.Run(in, func(t *testing.T) {
			err := gocsv.UnmarshalString("id,parent\n"+in+"\n", &back)
			bad := strings.TrimPrefix(strings.TrimSuffix(in, ","), "7,")
			if !errors.Is(err, want) || !strings.Contains(err.Error(), "line 2") || !strings.Contains(err.Error(), `"`+bad+`"`) {
				t.Errorf("%s: %v", in, err)
			}
		})
	}
	type keyRow struct {
		ID     Key     `csv:"id"`
		Parent NullKey `csv:"parent"`
	}
	keys := []keyRow{{1996573624012345677, NullKey{Key: 8, Valid: true}}, {ID: 7}}
	text, err = gocsv.MarshalString(keys)
	if err != nil || text != "id,parent\nord_1qda147xjq4ad,ord_0000000000008\nord_0000000000007,\n" {
		t.Errorf("%q, %v", text, err)
	}
	var keysBack []keyRow
	if err := gocsv.UnmarshalString(text, &keysBack); err != nil || !reflect.DeepEqual(keysBack, keys) {
		t.Errorf("%+v, %v", keysBack, err)
	}
	if err := gocsv.UnmarshalString("id,parent\n7,\n", &keysBack); !errors.Is(err, sqltype.ErrPrefix) || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("a bare number: %v", err)
	}
	// A nil pointer is written as an empty field, which only a NullID can read.
	type pointerRow struct {
		ID     ID  `csv:"id"`
		Parent *ID `csv:"parent"`
	}
	text, err = gocsv.MarshalString([]pointerRow{{ID: 7}})
	if err != nil || text != "id,parent\n7,\n" {
		t.Errorf("%q, %v", text, err)
	}
	var pointers []pointerRow
	if err := gocsv.UnmarshalString(text, &pointers); !errors.Is(err, sqltype.ErrSyntax) {
		t.Errorf("an empty field into a pointer: %v", err)
	}
}
