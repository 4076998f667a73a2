// Package live has what packages migrate and backfill share: the errors of their configurations,
// the names of tables, retries, the triggers of tables that they fill, and the pace of a fill.
package live

import (
	"fmt"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-299c1d6b/snowkey/core"
)

// Errors is a list of the wrong fields of a configuration.
type Errors []core.FieldError

// Add appends the error of one field.
func (e *Errors) Add(field string, value any, reason string, args ...any) {
	if len(args) > 0 {
		reason = fmt.Sprintf(reason, args...)
	}
	*e = append(*e, core.FieldError{Field: field, Value: Quote(value), Reason: reason})
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

// Quote returns a value as errors show it: a string is quoted, and shortened to 100 characters.
func Quote(value any) string {
	const longest = 100
	text, ok := value.(string)
	switch {
	case IsNil(value):
		return "nil"
	case !ok && reflect.TypeOf(value).Kind() == reflect.Pointer:
		return fmt.Sprintf("%T", value)
	case !ok:
		return fmt.Sprint(value)
	case utf8.RuneCountInString(text) > longest:
		return fmt.Sprintf("%.*q…", longest, text)
	}
	return fmt.Sprintf("%q", text)
}

// IsNil reports whether an interface is nil, or holds a nil pointer.
func IsNil(v any) bool {
	r := reflect.ValueOf(v)
	return !r.IsValid() || r.Kind() == reflect.Pointer && r.IsNil()
}

// MaxName is the longest name of PostgreSQL, in bytes. PostgreSQL truncates a longer one silently.
const MaxName = 63

// BadName returns what is wrong with the name of a table or a column, or nothing.
func BadName(name string) string {
	switch {
	case name == "":
		return "must not be empty"
	case !utf8.ValidString(name) || strings.ContainsAny(name, "?.\"`") || strings.ContainsFunc(name, unicode.IsControl) || strings.HasSuffix(name, " "):
		return "must be a name without dots, quotes, question marks, control characters or a trailing space"
	case len(name) > MaxName:
		return "must have at most 63 bytes"
	}
	return ""
}

// SplitTable returns the schema, if there is one, and the name.
func SplitTable(table string) (schema, name string) {
	if schema, name, ok := strings.Cut(table, "."); ok {
		return schema, name
	}
	return "", table
}

// CheckTable adds the error of a table, which may have a schema before it.
func CheckTable(wrong *Errors, table string, bad func(name string) string) {
	schema, name := SplitTable(table)
	if reason := bad(name); reason != "" {
		wrong.Add("Table", table, "%s", reason)
	} else if reason := bad(schema); schema != "" && reason != "" {
		wrong.Add("Table", table, "%s", reason)
	}
}

// MaxBatch is the greatest BatchSize.
const MaxBatch = 100_000

// CheckBatch adds the error of a batch size, and returns it with its default.
func CheckBatch(wrong *Errors, size, zero int) int {
	if size < 0 || size > MaxBatch {
		wrong.Add("BatchSize", size, "must be 1 to %d, or 0 for %d", MaxBatch, zero)
	}
	if size == 0 {
		return zero
	}
	return size
}
