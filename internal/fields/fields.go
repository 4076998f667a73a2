// Package fields collects what is wrong with the fields of a configuration, so that one
// [core.ConfigError] reports all of it.
//
//	var wrong fields.Errors
//	if cfg.Block < 1 {
//		wrong.Add("Block", cfg.Block, "must be at least 1")
//	}
//	return wrong.Err("serial")
package fields

import (
	"fmt"

	"github.com/seed-299c1d6b/snowkey/core"
)

// Errors is a list of field errors, in the order in which they were found. The zero value
// is ready for use.
type Errors []core.FieldError

// maxQuoted is how many bytes of a value an error quotes.
const maxQuoted = 100

// Add notes that a field has a wrong value, and why. A string is quoted and shortened to
// 100 bytes; nil is "nil", and any other value is printed as
// fmt.Sprint prints it.
func (e *Errors) Add(field string, value any, reason string, args ...any) {
	if len(args) > 0 {
		reason = fmt.Sprintf(reason, args...)
	}
	*e = append(*e, core.FieldError{Field: field, Value: Quote(value), Reason: reason})
}

// Quote writes a value as Add does.
func Quote(value any) string {
	if value == nil {
		return "nil"
	}
	text, ok := value.(string)
	if !ok {
		return fmt.Sprint(value)
	}
	if len(text) > maxQuoted {
		return fmt.Sprintf("%.*q…", maxQuoted, text)
	}
	return fmt.Sprintf("%q", text)
}

// Err returns a *core.ConfigError of the package, or nil if the list is empty.
func (e Errors) Err(pkg string) error {
	if len(e) == 0 {
		return nil
	}
	return &core.ConfigError{Package: pkg, Fields: e}
}
