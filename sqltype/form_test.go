package sqltype

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
)

// looseRow has the Form that a test gives it.
type looseRow struct{}

var looseForm Form

func (*looseRow) KeyForm() Form { return looseForm }

func setForm(t *testing.T, f Form) {
	t.Cleanup(func() { looseForm = Form{} })
	looseForm = f
}

// maskSealer hides nothing: its tokens are t and 13 digits, with other bits.
type maskSealer struct{ mask ID }

func (s *maskSealer) AppendSeal(b []byte, id ID) ([]byte, error) {
	return (id ^ s.mask).AppendBase32(append(b, 't')), nil
}

func (s *maskSealer) Unseal(token string) (ID, error) {
	digits, ok := strings.CutPrefix(token, "t")
	id, err := ParseBase32(digits)
	if !ok || err != nil {
		return 0, fmt.Errorf("mask: %w", ErrSyntax)
	}
	return id ^ s.mask, nil
}

// The sealers of these tests that fail.
type (
	failingSealer  struct{ err error }
	negativeSealer struct{}
)

func (s failingSealer) AppendSeal(b []byte, _ ID) ([]byte, error) { return append(b, "half"...), s.err }
func (s failingSealer) Unseal(string) (ID, error)                 { return 7, s.err }

func (negativeSealer) AppendSeal(b []byte, _ ID) ([]byte, error) { return append(b, 't'), nil }
func (negativeSealer) Unseal(string) (ID, error)                 { return -7, nil }

var mask = &maskSealer{0x0F0F_1234_5678_0F0F}

// The table follows that of the TypeID specification, version 0.3.
func TestPrefixRules(t *testing.T) {
	long := strings.Repeat("abcdefghi", 7)
	for prefix, valid := range map[string]bool{
		"a": true, "ord": true, "order_line": true, "order__line": true, "a_b": true, long: true,
		long + "j": false, "ORD": false, "oRd": false, "ord1": false, "1ord": false, "12345": false, "or.d": false, "or-d": false,
		"örd": false, "ord ": false, " ord": false, "o rd": false, "_ord": false, "ord_": false, "_": false, "__": false,
		"ord\x00": false, "ord\n": false, "оrd": false, // a Cyrillic o
	} {
		t.Run(prefix, func(t *testing.T) {
			if err := (Form{Prefix: prefix}).Check(); (err == nil) != valid {
				t.Errorf("Check: %v", err)
			}
			setForm(t, Form{Prefix: prefix})
			text, err := Key[looseRow](7).MarshalText()
			if !valid {
				if text != nil || !errors.Is(err, ErrForm) || !strings.Contains(err.Error(), quote(prefix)) {
					t.Errorf("%q, %v", text, err)
				}
				return
			}
			if want := prefix + "_0000000000007"; err != nil || string(text) != want {
				t.Errorf("%q, %v, want %s", text, err, want)
			}
			if key, err := ParseKey[looseRow](string(text)); err != nil || key != 7 {
				t.Errorf("%s is read as %v, %v", text, key, err)
			}
		})
	}
}

// The texts come from typeid.Int64 in go-chi/typeid and 0xPolygon/typeid 0.3.
func TestTextsOfTypeID(t *testing.T) {
	setForm(t, Form{Prefix: "org"})
	for text, want := range map[string]Key[looseRow]{
		"org_0000000000001": 1, "org_01kc5z8asmc1s": 57849679376429113, "org_01ksvwwjsx000": 58331184133734400,
		"org_1qda147xjq4ad": 1996573624012345677, "org_7zzzzzzzzzzzz": math.MaxInt64,
	} {
		if key, err := ParseKey[looseRow](text); err != nil || key != want || key.String() != text {
			t.Errorf("%s is read as %d, %v, and written as %s", text, key, err, key)
		}
	}
}

func TestFormCheck(t *testing.T) {
	const rule = " is not 1 to 63 of a-z and _ that begin and end with a letter"
	for want, f := range map[string]Form{
		`Prefix "Ord"` + rule:                 {Prefix: "Ord"},
		`Sealer is a nil *sqltype.maskSealer`: {Prefix: "ord", Sealer: (*maskSealer)(nil)},
		`Old[1].Prefix "o "` + rule:           {Prefix: "ord", Old: []Form{{Prefix: "o"}, {Prefix: "o "}}},
		`Old[0].Old has 1 forms, want none`:   {Prefix: "ord", Old: []Form{{Prefix: "o", Old: make([]Form, 1)}}},
		`Prefix "_"` + rule + `; Sealer is a nil *sqltype.maskSealer; Old[0].Prefix "O"` + rule + `; Old[0].Sealer is a nil *sqltype.maskSealer`: {
			Prefix: "_", Sealer: (*maskSealer)(nil), Old: []Form{{Prefix: "O", Sealer: (*maskSealer)(nil)}}},
		`decimal strings and tokens without a Prefix can look alike: give the tokens a Prefix`: {Sealer: mask, Old: []Form{{}}},
	} {
		err := f.Check()
		if !errors.Is(err, ErrForm) || err.Error() != "sqltype: wrong Form: "+want {
			t.Errorf("%v\nwant %s", err, want)
		}
		setForm(t, f)
		if _, keyErr := Key[looseRow](7).MarshalText(); keyErr == nil || !strings.HasSuffix(keyErr.Error(), ": wrong Form: "+want) {
			t.Errorf("a key: %v\nwant %s", keyErr, want)
		}
	}
	for _, f := range []Form{
		{}, {Prefix: "ord"}, {Sealer: mask}, {Prefix: "ord", Sealer: mask}, {Old: []Form{{Prefix: "ord"}}},
		{Prefix: "ord", Sealer: mask, Old: []Form{{}, {Prefix: "ord"}, {Prefix: "order"}}}, {Prefix: "ord", Old: []Form{{Sealer: mask}}},
	} {
		if err := f.Check(); err != nil {
			t.Errorf("%+v: %v", f, err)
		}
	}
}

// Each way in and out reports a wrong Form and a failing Sealer, and shows neither id nor key.
func TestFormErrors(t *testing.T) {
	fault := errors.New("the ring is closed")
	const id = 1996573624012345677
	for name, tt := range map[string]struct {
		form Form
		want error
	}{
		"wrong prefix": {Form{Prefix: "Loose"}, ErrForm},
		"nil Sealer":   {Form{Sealer: (*maskSealer)(nil)}, ErrForm},
		"wrong Old":    {Form{Prefix: "loose", Old: []Form{{Prefix: "_"}}}, ErrForm},
		"Sealer fails": {Form{Prefix: "loose", Sealer: failingSealer{fault}}, fault},
	} {
		t.Run(name, func(t *testing.T) {
			setForm(t, tt.form)
			key, null := Key[looseRow](id), NullKey[looseRow]{id, true}
			text := []byte("x")
			_, marshal := key.MarshalText()
			b, appended := key.AppendText(text)
			_, viaJSON := json.Marshal(key)
			_, nullJSON := null.MarshalJSON()
			_, attr := key.MarshalXMLAttr(xml.Name{})
			_, parse := ParseKey[looseRow]("loose_0000000000007")
			for name, err := range map[string]error{
				"MarshalText": marshal, "AppendText": appended, "json": viaJSON, "NullKey": nullJSON, "attribute": attr,
				"ParseKey":      parse,
				"UnmarshalText": key.UnmarshalText([]byte("loose_0000000000007")), "UnmarshalJSON": key.UnmarshalJSON([]byte(`"loose_0000000000007"`)),
				"UnmarshalParam": null.UnmarshalParam("loose_0000000000007"),
			} {
				if !errors.Is(err, tt.want) || strings.Contains(err.Error(), "199657") || strings.Contains(err.Error(), "1qda") {
					t.Errorf("%s: %v", name, err)
				}
				if tt.want == ErrForm && !strings.Contains(err.Error(), "sqltype.Key[github.com/seed-299c1d6b/snowkey/sqltype.looseRow]") {
					t.Errorf("%s: %v does not name the type", name, err)
				}
			}
			if err := key.UnmarshalJSON([]byte("7")); tt.want == ErrForm && !errors.Is(err, ErrForm) || err == nil {
				t.Errorf("a number: %v", err)
			}
			if key != id || null != (NullKey[looseRow]{id, true}) || string(b) != "x" {
				t.Errorf("left %d, %d, %q", int64(key), int64(null.Key), b)
			}
			if got := fmt.Sprint(key, null); strings.Contains(got, "199657") || !strings.HasPrefix(got, "%!(sqltype.Key[") {
				t.Errorf("printed as %s", got)
			}
		})
	}
	setForm(t, Form{Prefix: "loose", Sealer: failingSealer{fault}})
	_, err := ParseKey[looseRow]("loose_x")
	if want := `sqltype: parse "loose_x": want "loose_" and a token: the ring is closed`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	setForm(t, Form{Sealer: negativeSealer{}})
	if key, err := ParseKey[looseRow]("x"); key != 0 || !errors.Is(err, ErrNegative) {
		t.Errorf("a Sealer's negative id: %v, %v", key, err)
	}
	if _, err := Key[looseRow](-7).MarshalText(); !errors.Is(err, ErrNegative) || err.Error() != "sqltype: encode -7: an id is never negative" {
		t.Errorf("negative: %v", err)
	}
}

// What was written under an earlier Form is read, if Old lists it, and what is written is new.
func TestOldForms(t *testing.T) {
	const id = 1996573624012345677
	texts := map[string]Form{}
	for _, f := range []Form{{}, {Prefix: "ord"}, {Prefix: "order"}, {Prefix: "ord_er"}, {Sealer: mask}, {Prefix: "ord", Sealer: mask}, {Prefix: "order", Sealer: &maskSealer{1}}} {
		setForm(t, f)
		texts[Key[looseRow](id).String()] = f
	}
	if len(texts) != 7 {
		t.Fatalf("%d texts", len(texts))
	}
	for text, old := range texts {
		for newest, f := range texts {
			bare := old.Prefix == "" && f.Prefix == ""
			setForm(t, f)
			if key, err := ParseKey[looseRow](text); (err == nil) != (text == newest) {
				t.Errorf("%s under %+v without Old: %v, %v", text, f, key, err)
			}
			f.Old = []Form{{Prefix: "x"}, old}
			setForm(t, f)
			key, err := ParseKey[looseRow](text)
			if bare && text != newest { // decimal, and tokens without a prefix
				if !errors.Is(err, ErrForm) {
					t.Errorf("%s under %+v: %v, %v", text, f, key, err)
				}
				continue
			}
			if err != nil || key != id || key.String() != newest {
				t.Errorf("%s under %+v: %v, %v", text, f, key, err)
			}
			if _, err := ParseKey[looseRow]("cus_0000000000007"); err == nil || f.Prefix != "" && !errors.Is(err, ErrPrefix) {
				t.Errorf("another type's key under %+v: %v", f, err)
			}
			// A JSON number is read where decimal texts are.
			key = 0
			err = json.Unmarshal([]byte("1996573624"), &key)
			decimal := f.decimal() || old.decimal()
			if (err == nil) != decimal || decimal != (key == 1996573624) {
				t.Errorf("a number under %+v: %v, %v", f, key, err)
			}
			var exact Exact[Key[looseRow]]
			err = json.Unmarshal([]byte("1996573624012345677"), &exact)
			if (err == nil) != decimal || decimal != (exact.V == id) {
				t.Errorf("a large number under %+v: %v, %v", f, exact.V, err)
			}
			if err := json.Unmarshal([]byte("1996573624012345677"), &key); errors.Is(err, ErrRounded) != decimal || err == nil {
				t.Errorf("a number that may be rounded under %+v: %v", f, err)
			}
		}
	}
}
