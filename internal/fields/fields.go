// Package fields collects the errors in the fields of a configuration, so that one
// [core.ConfigError] reports all of them.
//
//	var wrong fields.Errors
//	if cfg.Block < 1 {
//		wrong.Add("Block", cfg.Block, "must be at least 1")
//	}
//	return wrong.Err("serial")
package fields

import (
	"fmt"
	"reflect"
	"unicode/utf8"

	"github.com/seed-299c1d6b/snowkey/core"
)

// Errors is a list of field errors, in the order in which they were found. The zero value
// is ready for use.
type Errors []core.FieldError

// maxQuoted is how many characters of a string an error quotes.
const maxQuoted = 100

// Add appends the error of one field. It writes the value as [Quote] does, and formats the
// reason if there are arguments.
func (e *Errors) Add(field string, value any, reason string, args ...any) {
	if len(args) > 0 {
		reason = fmt.Sprintf(reason, args...)
	}
	*e = append(*e, core.FieldError{Field: field, Value: Quote(value), Reason: reason})
}

// Quote returns a value as errors show it: a string quoted, and shortened to 100 characters; nil
// and a nil pointer as nil; a value that would be printed as an address by its type; and any
// other as fmt.Sprint prints it.
func Quote(value any) string {
	if IsNil(value) {
		return "nil"
	}
	text, ok := value.(string)
	switch {
	case !ok && isAddress(value):
		return fmt.Sprintf("%T", value)
	case !ok:
		return fmt.Sprint(value)
	case utf8.RuneCountInString(text) > maxQuoted:
		return fmt.Sprintf("%.*q…", maxQuoted, text)
	}
	return fmt.Sprintf("%q", text)
}

// isAddress reports whether fmt.Sprint prints the value, or its elements, as an address.
func isAddress(value any) bool {
	switch value.(type) {
	case fmt.Stringer, error:
		return false
	}
	t := reflect.TypeOf(value)
	for t.Kind() == reflect.Slice || t.Kind() == reflect.Array {
		t = t.Elem()
	}
	return t.Kind() == reflect.Pointer || t.Kind() == reflect.Func || t.Kind() == reflect.Chan
}

// Err returns a *core.ConfigError of the package, or nil if the list is empty.
func (e Errors) Err(pkg string) error {
	if len(e) == 0 {
		return nil
	}
	return &core.ConfigError{Package: pkg, Fields: e}
}

// Error returns a *core.ConfigError of the package for one field.
func Error(pkg, field string, value any, reason string, args ...any) error {
	var wrong Errors
	wrong.Add(field, value, reason, args...)
	return wrong.Err(pkg)
}

// IsNil reports whether v is nil, or holds a nil pointer, function, map, slice or channel,
// on which a method would fail.
func IsNil(v any) bool {
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Pointer, reflect.Func, reflect.Map, reflect.Slice, reflect.Chan:
		return r.IsNil()
	}
	return false
}
