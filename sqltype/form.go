package sqltype

import (
	"errors"
	"fmt"
	"strings"
)

// Form says how the keys of a type are written as strings, also in JSON. The zero Form is decimal, as
// for an [ID]. A type declares the Form of its keys with a method that does not use its receiver:
//
//	func (*Order) KeyForm() sqltype.Form { return sqltype.Form{Prefix: "ord"} }
//
// A value receiver works as well, and so does a method that is promoted from an embedded struct,
// but they cost an allocation for each string. A method with another signature declares nothing. Only
// the type in brackets counts: a Key[*Order] does not have the Form of an Order.
type Form struct {
	// Prefix is written before the id, with an underscore: ord_1qda147xjq4ad. The digits are then
	// 13 of Crockford's base 32 in lower case, and strings sort like the ids. Reading ignores case.
	// A prefix has 1 to 63 characters of a-z and _, and begins and ends with a letter.
	Prefix string

	// Sealer turns ids into tokens, which replace the digits. It needs no Prefix. If it comes from
	// a variable, declare the variable with a pointer type such as *token.Sealer, not as a Sealer:
	// an unassigned pointer causes an error, but an unassigned Sealer is nil and shows the ids.
	Sealer Sealer

	// Old lists earlier forms, which are still read but never written. The zero Form reads
	// decimal strings and JSON numbers. The first form that can read a string is used. Declare the
	// slice outside of KeyForm, so that KeyForm does not allocate.
	Old []Form
}

// Sealer writes ids as tokens that do not show them. Package token has one.
type Sealer interface {
	// AppendSeal appends the token of an id, which is not negative, to b. A token consists of at
	// least one letter or digit; anything else is an ErrForm.
	AppendSeal(b []byte, id ID) ([]byte, error)
	// Unseal returns the id of a token, or an error. A Key's error quotes the whole input. So if
	// the error of Unseal quotes the token and wraps another error, the Key's error shows only
	// the wrapped one.
	Unseal(token string) (ID, error)
}

// former is a type whose keys have a Form.
type former interface{ KeyForm() Form }

// formerOf returns a nil *T if T declares a Form, and otherwise nil. It is small enough to be inlined
// where a key of a type without a Form must cost no more than an ID.
func formerOf[T any]() former {
	declared, _ := any((*T)(nil)).(former)
	return declared
}

// formOf returns the Form of T, which declares one. It calls KeyForm on the nil pointer, without an
// allocation. If that is not possible, because the receiver is a T, or because KeyForm is promoted from
// a struct in T, formOf calls it on a new T.
func formOf[T any](declared former) (f Form) {
	if _, byValue := any(*new(T)).(former); byValue {
		return any(new(T)).(former).KeyForm()
	}
	defer func() {
		if recover() != nil {
			f = any(new(T)).(former).KeyForm()
		}
	}()
	return declared.KeyForm()
}

// Check returns an error that wraps ErrForm and lists everything that is wrong with the form. The
// methods of a [Key] return it, too.
func (f Form) Check() error {
	if err := f.check(); err != nil {
		return fmt.Errorf("sqltype: %w", err)
	}
	return nil
}

func (f *Form) check() error {
	if f.isValid() {
		return nil
	}
	faults := f.faults("")
	for i := range f.Old {
		field := fmt.Sprintf("Old[%d].", i)
		faults = append(faults, f.Old[i].faults(field)...)
		if n := len(f.Old[i].Old); n > 0 {
			faults = append(faults, fmt.Sprintf("%sOld has %d forms, want none", field, n))
		}
	}
	if f.ambiguous() {
		faults = append(faults, "decimal strings and tokens without a Prefix can look alike: give the tokens a Prefix")
	}
	return fmt.Errorf("%w: %s", ErrForm, strings.Join(faults, "; "))
}

// faults lists what is wrong with the fields of one form.
func (f *Form) faults(field string) (faults []string) {
	if !validPrefix(f.Prefix) {
		faults = append(faults, fmt.Sprintf(
			"%sPrefix %s is not 1 to 63 of a-z and _ that begin and end with a letter", field, quote(f.Prefix)))
	}
	if isNilSealer(f.Sealer) {
		faults = append(faults, fmt.Sprintf("%sSealer is a nil %T", field, f.Sealer))
	}
	return faults
}

// isValid reports whether check finds nothing, without an allocation.
func (f *Form) isValid() bool {
	if !validPrefix(f.Prefix) || isNilSealer(f.Sealer) {
		return false
	}
	for i := range f.Old {
		if len(f.Old[i].Old) > 0 || !f.Old[i].isValid() {
			return false
		}
	}
	return len(f.Old) == 0 || !f.ambiguous()
}

func isNilSealer(s Sealer) bool { return s != nil && isNil(s) }

// ambiguous reports whether a string may be a decimal id and also a token.
func (f *Form) ambiguous() bool {
	decimal, token := f.decimal(), f.Prefix == "" && f.Sealer != nil
	for i := range f.Old {
		old := &f.Old[i]
		decimal = decimal || old.decimal()
		token = token || old.Prefix == "" && old.Sealer != nil
	}
	return decimal && token
}

// validPrefix implements the rule of the TypeID specification, version 0.3, which also allows an empty
// prefix.
func validPrefix(p string) bool {
	if p == "" {
		return true
	}
	if len(p) > 63 || p[0] == '_' || p[len(p)-1] == '_' {
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

// size returns how many bytes a string has at most, unless a token is longer than package token's.
func (f *Form) size() int {
	if f.Sealer != nil {
		return len(f.Prefix) + 1 + 22
	}
	return len(f.Prefix) + maxDigits
}

// append appends the string of an id to b. On an error it returns b unchanged.
func (f *Form) append(b []byte, id ID) ([]byte, error) {
	text, err := f.appendOpen(b, id)
	if err != nil || f.Sealer == nil {
		return text, err
	}
	open := len(text)
	if text, err = f.Sealer.AppendSeal(text, id); err != nil {
		return b, err
	}
	if len(text) <= open || !isToken(text[open:]) { // not quoted: it may show the id
		return b, fmt.Errorf("%w: Sealer %T appended no token: want letters and digits", ErrForm, f.Sealer)
	}
	return text, nil
}

func isToken(text []byte) bool {
	for _, c := range text {
		if c-'0' > 9 && (c|0x20)-'a' > 'z'-'a' {
			return false
		}
	}
	return true
}

// appendOpen is like append, but appends no token. It does not let b escape.
func (f *Form) appendOpen(b []byte, id ID) ([]byte, error) {
	if id < 0 {
		return b, valueError("encode", int64(id), ErrNegative)
	}
	if !f.isValid() {
		return b, f.check()
	}
	if f.Prefix != "" {
		b = append(append(b, f.Prefix...), '_')
	}
	switch {
	case f.Sealer != nil:
		return b, nil
	case f.Prefix == "":
		return id.AppendText(b)
	}
	return append32(b, lower32, uint64(id)), nil
}

// string returns the string of an id.
func (f *Form) string(id ID) (string, error) {
	if f.Sealer != nil {
		text, err := f.append(nil, id)
		return string(text), err
	}
	var room [63 + 1 + maxDigits]byte
	text, err := f.appendOpen(room[:0], id)
	return string(text), err
}

// readForm reads a string of the form or of an old one. The caller adds the operation to its errors.
func readForm[S string | []byte](f *Form, s S) (ID, error) {
	if !f.isValid() {
		return 0, f.check()
	}
	id, err := readOne(f, s)
	if err == nil {
		return id, nil
	}
	for i := range f.Old {
		if id, err := readOne(&f.Old[i], s); err == nil {
			return id, nil
		}
	}
	return 0, f.withExpected(err)
}

// readBare reads a JSON value that is not a string. Only a decimal form can read a number. key is a
// value of the key's type, for the error.
func (f *Form) readBare(text []byte, key AnyKey) (ID, error) {
	if !f.isValid() {
		return 0, f.check()
	}
	if isText(text) {
		return readForm(f, text)
	}
	decimals := f.decimal()
	for i := range f.Old {
		decimals = decimals || f.Old[i].decimal()
	}
	if decimals {
		return bareNumber(text)
	}
	if _, err := decimal(text); err == nil {
		return 0, f.numberError(key)
	}
	return 0, syntaxError("want " + f.expected())
}

// numberError returns the error for a JSON number, which usually comes from JSON that a database made.
func (f *Form) numberError(key AnyKey) error {
	advice := "read the number into a sqltype.Exact[sqltype.ID] and convert it"
	if f.Sealer == nil { // with the zero Form, ids could be guessed
		advice += ", or list the zero Form in Form.Old"
	}
	return syntaxError(fmt.Sprintf("a number, but a %T has a Form, want %s: %s", key, f.expected(), advice))
}

// isText reports whether a JSON value is a string that has lost its quotes: encoding/json removes them
// for a field tagged ",string", because it sees an integer type.
func isText(value []byte) bool {
	found := false
	for _, c := range value {
		switch {
		case '0' <= c && c <= '9', c|0x20 == 'e': // of a number, too
		case 'a' <= c|0x20 && c|0x20 <= 'z', c == '_':
			found = true
		default:
			return false
		}
	}
	return found && string(value) != "true" && string(value) != "false"
}

// readOne reads a string of the form itself. Its errors are bare, or the Sealer's.
func readOne[S string | []byte](f *Form, s S) (id ID, err error) {
	if f.decimal() {
		return decimal(s)
	}
	body := s
	if n := len(f.Prefix); n > 0 {
		if len(s) <= n || s[n] != '_' || !isPrefix(s, f.Prefix) {
			return 0, ErrPrefix
		}
		body = s[n+1:]
	}
	if f.Sealer != nil {
		token := string(body)
		if id, err = f.Sealer.Unseal(token); err != nil {
			err = withoutToken(err, token)
		}
	} else {
		id, err = parseDigits(&form32, body)
	}
	switch {
	case err != nil && hasUnderscore(body): // after another prefix, which may begin with this one
		return 0, ErrPrefix
	case err == nil && id < 0:
		return 0, ErrNegative
	}
	return id, err
}

// sealerError is a Sealer's error with the message of the error that it wraps.
type sealerError struct{ err, wrapped error }

func (e sealerError) Error() string { return e.wrapped.Error() }
func (e sealerError) Unwrap() error { return e.err }

// withoutToken returns the error of a Sealer without the token, if it wraps an error that does not
// quote it.
func withoutToken(err error, token string) error {
	wrapped := errors.Unwrap(err)
	if quoted := quote(token); wrapped == nil || !strings.Contains(err.Error(), quoted) || strings.Contains(wrapped.Error(), quoted) {
		return err
	}
	return sealerError{err, wrapped}
}

// isPrefix reports whether s, which is longer, begins with the prefix. It ignores case.
func isPrefix[S string | []byte](s S, prefix string) bool {
	for i := range len(prefix) {
		if c := s[i]; c != prefix[i] && c|0x20 != prefix[i] { // an underscore has no such bit
			return false
		}
	}
	return true
}

func hasUnderscore[S string | []byte](s S) bool {
	for i := range len(s) {
		if s[i] == '_' {
			return true
		}
	}
	return false
}

// withExpected adds the expected form to an error of readOne.
func (f *Form) withExpected(err error) error {
	switch {
	case f.decimal(), errors.Is(err, ErrRange), errors.Is(err, ErrNegative):
		return err
	case errors.Is(err, ErrPrefix):
		return fmt.Errorf("%w, want %s", err, f.expected())
	case f.Sealer != nil:
		return fmt.Errorf("want %s: %w", f.expected(), err)
	}
	return syntaxError("want " + f.expected())
}

// expected describes a string of a form that is not decimal.
func (f *Form) expected() string {
	what := "13 digits of base 32"
	if f.Sealer != nil {
		what = "a token"
	}
	if f.Prefix != "" {
		what = fmt.Sprintf("%q and %s", f.Prefix+"_", what)
	}
	return what
}
