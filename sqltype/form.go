package sqltype

import (
	"errors"
	"fmt"
	"strings"
)

// Form is how the keys of a type are written as text and in JSON. The zero Form is decimal, as for
// an [ID]. A type declares the Form of its keys with a method that does not use its receiver:
//
//	func (*Order) KeyForm() sqltype.Form { return sqltype.Form{Prefix: "ord"} }
//
// A value receiver works as well, and costs an allocation for each text.
type Form struct {
	// Prefix and an underscore stand before the digits, as in ord_01hv5z8s1q9m3: 13 of
	// Crockford's base 32 in lower case, whose texts sort as the ids do. Reading ignores case.
	// A prefix has 1 to 63 characters of a-z and _, and begins and ends with a letter.
	Prefix string

	// Sealer turns ids into tokens, which stand in place of the digits. It needs no Prefix.
	Sealer Sealer

	// OldPrefixes are read like Prefix, and never written. Declare the slice outside of
	// KeyForm, which then allocates nothing.
	OldPrefixes []string

	// Accept lists forms that are read as well, and never written.
	Accept Accept
}

// Accept is a set of forms, joined by |. The zero value is empty.
type Accept uint8

const (
	AcceptDecimal Accept = 1 << iota // what an ID without a Form writes, also as a JSON number
	AcceptBase32                     // 13 digits after a prefix, although there is a Sealer
)

// Sealer writes ids as tokens that do not show them. Package token has two.
type Sealer interface {
	// AppendSeal appends the token of an id to b. A token has no underscore.
	AppendSeal(b []byte, id ID) ([]byte, error)
	// Unseal returns the id of a token, or an error.
	Unseal(token string) (ID, error)
}

// former is a type whose keys have a Form.
type former interface{ KeyForm() Form }

// formOf returns the Form of T; ok is false if it declares none.
func formOf[T any]() (f Form, ok bool) {
	declared, ok := any((*T)(nil)).(former)
	if !ok {
		return Form{}, false
	}
	if _, byValue := any(*new(T)).(former); byValue { // it cannot be called on a nil pointer
		declared, ok = any(new(T)).(former)
	}
	return declared.KeyForm(), ok
}

// Check reports everything that is wrong with the form. The methods of a [Key] return the
// same error. It wraps ErrForm.
func (f Form) Check() error {
	var faults []error
	for i, p := range f.OldPrefixes {
		if !validPrefix(p) {
			faults = append(faults, fmt.Errorf("OldPrefixes[%d] %s %w", i, quote(p), errPrefixRule))
		}
	}
	if f.Prefix != "" && !validPrefix(f.Prefix) {
		faults = append(faults, fmt.Errorf("Prefix %s %w", quote(f.Prefix), errPrefixRule))
	}
	if f.Accept&^(AcceptDecimal|AcceptBase32) != 0 {
		faults = append(faults, fmt.Errorf("Accept %#x has unknown bits", uint8(f.Accept)))
	}
	if f.Prefix == "" && f.Sealer == nil && len(f.OldPrefixes) > 0 {
		faults = append(faults, fmt.Errorf("OldPrefixes %q without a Prefix or a Sealer", f.OldPrefixes))
	}
	if f.Sealer != nil && isNil(f.Sealer) {
		faults = append(faults, errors.New("Sealer is a nil pointer"))
	}
	if len(faults) == 0 {
		return nil
	}
	return fmt.Errorf("sqltype: %w: %w", ErrForm, errors.Join(faults...))
}

var errPrefixRule = errors.New("is not 1 to 63 of a-z and _ that begin and end with a letter")

// validPrefix is the rule of the TypeID specification, version 0.3.
func validPrefix(p string) bool {
	if p == "" || len(p) > 63 || p[0] == '_' || p[len(p)-1] == '_' {
		return false
	}
	for i := range len(p) {
		if c := p[i]; (c < 'a' || c > 'z') && c != '_' {
			return false
		}
	}
	return true
}

func (f *Form) decimal() bool { return f.Prefix == "" && f.Sealer == nil }

// sound is Check for the hot path, of what an encoder uses.
func (f *Form) sound() error {
	if f.Prefix != "" && !validPrefix(f.Prefix) || f.Sealer != nil && isNil(f.Sealer) {
		return f.Check()
	}
	return nil
}

func (f *Form) append(b []byte, id ID) ([]byte, error) {
	if f.decimal() {
		return id.AppendText(b)
	}
	if id < 0 {
		return b, valueError("encode", int64(id), ErrNegative)
	}
	if err := f.sound(); err != nil {
		return b, err
	}
	out := b
	if f.Prefix != "" {
		out = append(append(out, f.Prefix...), '_')
	}
	if f.Sealer == nil {
		return append32(out, lower32, uint64(id)), nil
	}
	out, err := f.Sealer.AppendSeal(out, id)
	if err != nil {
		return b, fmt.Errorf("sqltype: encode: %w", err)
	}
	return out, nil
}

// parse returns a bare error; the caller adds the operation.
func (f *Form) parse(s string) (ID, error) {
	if f.decimal() {
		return decimal(s)
	}
	if err := f.sound(); err != nil {
		return 0, err
	}
	if f.Accept&AcceptDecimal != 0 {
		if id, err := decimal(s); err == nil {
			return id, nil
		}
	}
	prefix, body := "", s
	if i := strings.LastIndexByte(s, '_'); i >= 0 {
		prefix, body = s[:i], s[i+1:]
	}
	if len(prefix) == len(s) || !f.has(prefix) {
		return 0, f.want(ErrPrefix)
	}
	if f.Sealer == nil || f.Accept&AcceptBase32 != 0 && prefix != "" && len(body) == width32 {
		id, err := form32.parse(body)
		switch {
		case err == nil, errors.Is(err, ErrRange):
			return id, err
		case f.Sealer == nil:
			return 0, f.want(ErrSyntax)
		}
	}
	return f.Sealer.Unseal(body)
}

func (f *Form) has(prefix string) bool {
	if len(prefix) == len(f.Prefix) && strings.EqualFold(prefix, f.Prefix) {
		return true
	}
	for _, old := range f.OldPrefixes {
		if strings.EqualFold(prefix, old) {
			return true
		}
	}
	return false
}

// want returns err with the expected form.
func (f *Form) want(err error) error {
	what := "13 digits of base 32"
	if f.Sealer != nil {
		what = "a token"
	}
	if f.Prefix != "" {
		what = fmt.Sprintf("%q and %s", f.Prefix+"_", what)
	}
	return formError{err: err, want: what}
}

// formError is an ErrPrefix or an ErrSyntax that says what was expected.
type formError struct {
	err  error
	want string
}

func (e formError) Error() string {
	if e.err == ErrPrefix {
		return e.err.Error() + ", want " + e.want
	}
	return "want " + e.want
}

func (e formError) Unwrap() error { return e.err }
