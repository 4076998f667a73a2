package sqltype

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
)

type (
	plainRow    struct{ ID Key[plainRow] }
	prefixedRow struct {
		ID     Key[prefixedRow]
		Parent NullKey[prefixedRow]
	}
	byValueRow  struct{ ID Key[byValueRow] }
	embeddedRow struct {
		plainRow
		prefixedRow // at an offset from nil
	}
	embeddedPtrRow struct{ *prefixedRow }
	receiverRow    struct{ prefix string }
	wrongSignature struct{}
)

func (*prefixedRow) KeyForm() Form     { return Form{Prefix: "row"} }
func (byValueRow) KeyForm() Form       { return Form{Prefix: "by_value"} }
func (r *receiverRow) KeyForm() Form   { return Form{Prefix: "r" + r.prefix} }
func (*wrongSignature) KeyForm() *Form { return nil }

const rowKey Key[prefixedRow] = 1996573624012345677

func TestKeyText(t *testing.T) {
	for name, tt := range map[string]struct {
		key  fmt.Stringer
		want string
	}{
		"decimal":              {Key[plainRow](1996573624012345677), "1996573624012345677"},
		"prefixed":             {rowKey, "row_1qda147xjq4ad"},
		"zero":                 {Key[prefixedRow](0), "row_0000000000000"},
		"largest":              {Key[prefixedRow](math.MaxInt64), "row_7zzzzzzzzzzzz"},
		"negative":             {Key[prefixedRow](-5), "-5"},
		"by value":             {Key[byValueRow](0), "by_value_0000000000000"},
		"embedded":             {Key[embeddedRow](0), "row_0000000000000"},
		"embedded pointer":     {Key[embeddedPtrRow](0), "row_0000000000000"},
		"uses its receiver":    {Key[receiverRow](0), "r_0000000000000"},
		"another signature":    {Key[wrongSignature](7), "7"},
		"of an interface":      {Key[former](7), "7"},
		"of a pointer":         {Key[*prefixedRow](7), "7"},
		"of no struct":         {Key[int](7), "7"},
		"NullKey":              {NullKey[prefixedRow]{7, true}, "row_0000000000007"},
		"NullKey that is NULL": {NullKey[prefixedRow]{Key: 7}, "NULL"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tt.key.String(); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// A text of a key is read by everything that reads texts, in any case.
func TestKeyReads(t *testing.T) {
	decoders := map[string]func(k *Key[prefixedRow], s string) error{
		"ParseKey": func(k *Key[prefixedRow], s string) error {
			key, err := ParseKey[prefixedRow](s)
			if err == nil {
				*k = key
			} else if key != 0 {
				return fmt.Errorf("%d with the error %w", key, err)
			}
			return err
		},
		"UnmarshalText":  func(k *Key[prefixedRow], s string) error { return k.UnmarshalText([]byte(s)) },
		"UnmarshalParam": (*Key[prefixedRow]).UnmarshalParam,
		"UnmarshalJSON":  func(k *Key[prefixedRow], s string) error { return k.UnmarshalJSON([]byte(`"` + s + `"`)) },
		"NullKey.UnmarshalText": func(k *Key[prefixedRow], s string) error {
			n := NullKey[prefixedRow]{*k, true}
			err := n.UnmarshalText([]byte(s))
			*k = n.Key
			return err
		},
	}
	long := strings.Repeat("x", 1000)
	for name, decode := range decoders {
		t.Run(name, func(t *testing.T) {
			for in, want := range map[string]any{
				"row_1qda147xjq4ad":     rowKey,
				"ROW_1QDA147XJQ4AD":     rowKey,
				"rOw_lQdA147XjQ4aD":     rowKey, // Crockford's readers take an l for a 1
				"row_7zzzzzzzzzzzz":     Key[prefixedRow](math.MaxInt64),
				"row_8000000000000":     ErrRange,
				"row_-000000000007":     ErrSyntax,
				"row_-0000000000007":    ErrNegative,
				"row_1qda147xjq4a":      ErrSyntax,
				"row_1qda147xjq4au":     ErrSyntax,
				"row_":                  ErrSyntax,
				"row-1qda147xjq4ad":     ErrPrefix,
				"1qda147xjq4ad":         ErrPrefix,
				"1996573624012345677":   ErrPrefix,
				"cus_1qda147xjq4ad":     ErrPrefix,
				"row__1qda147xjq4ad":    ErrPrefix,
				"row_old_1qda147xjq4ad": ErrPrefix,
				long:                    ErrPrefix,
				"row_" + long:           ErrSyntax,
			} {
				key := Key[prefixedRow](42)
				err := decode(&key, in)
				if id, ok := want.(Key[prefixedRow]); ok {
					if err != nil || key != id {
						t.Errorf("%s: %d, %v, want %d", in, int64(key), err, int64(id))
					}
					continue
				}
				checkError(t, err, want.(error), in[:min(len(in), 60)])
				if key != 42 {
					t.Errorf("%.30s: the key is %v after %v", in, key, err)
				}
				if want != ErrRange && want != ErrNegative && !strings.Contains(err.Error(), `"row_" and 13 digits of base 32`) {
					t.Errorf("%.30s: %v does not name the form", in, err)
				}
			}
		})
	}
}

// JSON that a database makes of a bigint has a number, which a Form reads only if it lists the
// zero Form. The error says what to do.
func TestKeyNumber(t *testing.T) { testKeyNumber(t, json.Unmarshal) }

func testKeyNumber(t *testing.T, unmarshal func(data []byte, into any) error) {
	type row struct {
		ID   Key[looseRow]
		Null NullKey[looseRow]
		List []Key[looseRow]
	}
	const (
		begin  = `sqltype: parse JSON "1996573624": a number, but a sqltype.Key[github.com/seed-299c1d6b/snowkey/sqltype.looseRow] has a Form, want `
		advice = `: read the number into a sqltype.Exact[sqltype.ID] and convert it`
		old    = `, or list the zero Form in Form.Old`
	)
	for want, f := range map[string]Form{
		begin + `"loose_" and 13 digits of base 32` + advice + old: {Prefix: "loose", Old: []Form{{Prefix: "old"}}},
		begin + `"loose_" and a token` + advice:                    {Prefix: "loose", Sealer: mask}, // decimal ids can be guessed
		begin + `a token` + advice:                                 {Sealer: mask},
		"":                                                         {Prefix: "loose", Old: make([]Form, 1)},
	} {
		setForm(t, f)
		for _, doc := range []string{`{"ID":%s}`, `{"Null":%s}`, `{"List":[%s]}`} {
			var r row
			err := unmarshal(fmt.Appendf(nil, doc, "1996573624"), &r)
			if want == "" && err != nil || want != "" && (!errors.Is(err, ErrSyntax) || !strings.HasSuffix(err.Error(), want)) {
				t.Errorf("%s: %v\nwant %s", doc, err, want)
			}
			for _, other := range []string{"-7", "7.5", "1e3", "9223372036854775808", "true", "[7]"} { // no ID
				if err := unmarshal(fmt.Appendf(nil, doc, other), &r); err == nil || strings.Contains(err.Error(), advice) {
					t.Errorf("%s: %v", other, err)
				}
			}
		}
	}
}

// In SQL a key is its number, whatever the Form.
func TestKeyNumbers(t *testing.T) {
	key, id, null := rowKey, ID(rowKey), NullKey[prefixedRow]{rowKey, true}
	for _, v := range []interface{ Scan(any) error }{new(Key[prefixedRow]), new(NullKey[prefixedRow])} {
		for _, src := range []any{int64(rowKey), id.String(), []byte(id.String()), id, &id, key, &key, null, &null, NullID{id, true}} {
			if err := v.Scan(src); err != nil || v.(fmt.Stringer).String() != key.String() {
				t.Errorf("%T scans %T as %v, %v", v, src, v, err)
			}
		}
		// At run time, too, keys are not mixed up.
		for _, src := range []any{Key[byValueRow](7), ptr(Key[byValueRow](7)), NullKey[byValueRow]{7, true}, &NullKey[byValueRow]{}} {
			if err := v.Scan(src); !errors.Is(err, ErrType) {
				t.Errorf("%T scans %T: %v", v, src, err)
			}
		}
	}
	if err := new(Key[prefixedRow]).Scan((*Key[prefixedRow])(nil)); !errors.Is(err, ErrNull) {
		t.Errorf("a nil pointer: %v", err)
	}
	if v, err := key.Value(); err != nil || v != int64(rowKey) {
		t.Errorf("Value: %v, %v", v, err)
	}
}

func TestKeyFormat(t *testing.T) {
	for format, want := range map[string]string{
		"%v": "row_000000000000z", "%s": "row_000000000000z", "%+v": "row_000000000000z", "%q": `"row_000000000000z"`,
		"%20s|": "   row_000000000000z|", "%-20v|": "row_000000000000z   |", "%.3s": "row", "%d": "31", "%x": "1f", "%05d": "00031",
		"%#v": "31", "%T": "sqltype.Key[github.com/seed-299c1d6b/snowkey/sqltype.prefixedRow]",
	} {
		if got := fmt.Sprintf(format, Key[prefixedRow](31)); got != want {
			t.Errorf("%s: %s, want %s", format, got, want)
		}
		if strings.ContainsAny(format, "#T") {
			continue
		}
		if got := fmt.Sprintf(format, NullKey[prefixedRow]{31, true}); got != want {
			t.Errorf("%s of a NullKey: %s, want %s", format, got, want)
		}
	}
	if got := fmt.Sprint(prefixedRow{ID: 1}, ptr(rowKey), (*Key[prefixedRow])(nil)); got != "{row_0000000000001 NULL} row_1qda147xjq4ad <nil>" {
		t.Error(got)
	}
}

func TestAnyKey(t *testing.T) {
	for _, v := range []any{Key[prefixedRow](0), new(Key[prefixedRow]), NullKey[prefixedRow]{}, new(NullKey[prefixedRow])} {
		if _, ok := v.(AnyKey); !ok {
			t.Errorf("%T is no AnyKey", v)
		}
	}
	for _, v := range []any{ID(0), NullID{}, 7} {
		if _, ok := v.(AnyKey); ok {
			t.Errorf("%T is an AnyKey", v)
		}
	}
}
