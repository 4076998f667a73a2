package sqltype

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// quotingSealer refuses every token with an error that quotes it, as package token does.
type quotingSealer struct{ err error }

type quotingError struct {
	token string
	err   error
}

func (e *quotingError) Error() string { return fmt.Sprintf("ring: unseal %q: %v", e.token, e.err) }
func (e *quotingError) Unwrap() error { return e.err }

func (quotingSealer) AppendSeal(b []byte, _ ID) ([]byte, error) { return append(b, 't'), nil }
func (s quotingSealer) Unseal(token string) (ID, error) {
	return 0, &quotingError{token: token, err: s.err}
}

// An error quotes the input once, although a Sealer's error quotes the token, too.
func TestSealerErrorQuotesOnce(t *testing.T) {
	reason := fmt.Errorf("no key of the ring opens it%w", textlessError{ErrSyntax})
	for name, tt := range map[string]struct {
		form        Form
		input, want string
	}{
		"prefix": {
			Form{Prefix: "ord", Sealer: quotingSealer{reason}}, "ord_abc",
			`sqltype: parse "ord_abc": want "ord_" and a token: no key of the ring opens it`,
		},
		"no prefix": {
			Form{Sealer: quotingSealer{reason}}, "abc",
			`sqltype: parse "abc": want a token: no key of the ring opens it`,
		},
		"bare": {
			Form{Prefix: "ord", Sealer: quotingSealer{ErrSyntax}}, "ord_abc",
			`sqltype: parse "ord_abc": want "ord_" and a token: not a decimal id`,
		},
		"nothing wrapped": {
			Form{Prefix: "ord", Sealer: quotingSealer{nil}}, "ord_abc",
			`sqltype: parse "ord_abc": want "ord_" and a token: ring: unseal "abc": <nil>`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			setForm(t, tt.form)
			_, err := ParseKey[looseRow](tt.input)
			var quoting *quotingError
			if err == nil || err.Error() != tt.want || !errors.As(err, &quoting) {
				t.Errorf("%v\nwant %s", err, tt.want)
			}
			if tt.form.Sealer != (quotingSealer{}) && !errors.Is(err, ErrSyntax) {
				t.Errorf("%v is no ErrSyntax", err)
			}
		})
	}
}

// textlessError is an error to be wrapped for errors.Is only.
type textlessError struct{ error }

func (textlessError) Error() string   { return "" }
func (e textlessError) Unwrap() error { return e.error }

// badSealer makes tokens that are none.
type badSealer func(b []byte) []byte

func (s badSealer) AppendSeal(b []byte, _ ID) ([]byte, error) { return s(b), nil }
func (badSealer) Unseal(string) (ID, error)                   { return 7, nil }

// A token of other characters than letters and digits could end a JSON string, and one that is
// empty or stands in place of the prefix could not be read.
func TestSealerOfBadTokens(t *testing.T) {
	for name, s := range map[string]badSealer{
		"nothing":      func(b []byte) []byte { return b },
		"nil":          func([]byte) []byte { return nil },
		"less":         func(b []byte) []byte { return b[:max(0, len(b)-1)] },
		"quote":        func(b []byte) []byte { return append(b, `x","admin":"x`...) },
		"underscore":   func(b []byte) []byte { return append(b, "a_b"...) },
		"hyphen":       func(b []byte) []byte { return append(b, "a-b"...) },
		"space":        func(b []byte) []byte { return append(b, "a "...) },
		"zero byte":    func(b []byte) []byte { return append(b, 0) },
		"other script": func(b []byte) []byte { return append(b, "é"...) },
	} {
		for _, prefix := range []string{"", "ord"} {
			t.Run(name+"/"+prefix, func(t *testing.T) {
				setForm(t, Form{Prefix: prefix, Sealer: s})
				key := Key[looseRow](1996573624012345677)
				b, err := key.AppendText([]byte("x"))
				if string(b) != "x" || !errors.Is(err, ErrForm) || !strings.Contains(err.Error(), "badSealer") {
					t.Errorf("%q, %v", b, err)
				}
				if text := key.String(); !strings.HasPrefix(text, "%!(") {
					t.Errorf("String: %s", text)
				}
				if b, err := (NullKey[looseRow]{key, true}).MarshalJSON(); b != nil || !errors.Is(err, ErrForm) {
					t.Errorf("NullKey: %s, %v", b, err)
				}
				if b, err := json.Marshal(key); b != nil || !errors.Is(err, ErrForm) {
					t.Errorf("json: %s, %v", b, err)
				}
			})
		}
	}
}

// A Sealer that fails is an error, whatever it wraps, and never a NULL.
func TestSealerFailsWithNull(t *testing.T) {
	fault := fmt.Errorf("look the token up: %w", ErrNull)
	setForm(t, Form{Prefix: "ord", Sealer: failingSealer{fault}})
	was := NullKey[looseRow]{7, true}
	null, key := was, Key[looseRow](7)
	for name, err := range map[string]error{
		"NullKey text":  null.UnmarshalText([]byte("ord_x")),
		"NullKey param": null.UnmarshalParam("ord_x"),
		"NullKey JSON":  null.UnmarshalJSON([]byte(`"ord_x"`)),
		"Key text":      key.UnmarshalText([]byte("ord_x")),
		"Key JSON":      key.UnmarshalJSON([]byte(`"ord_x"`)),
	} {
		if !errors.Is(err, fault) || !strings.Contains(err.Error(), `"ord_x`) || null != was || key != 7 {
			t.Errorf("%s: %v, and %+v, %d", name, err, null, int64(key))
		}
	}
}
