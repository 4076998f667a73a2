package core

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Errors to test for with errors.Is. Next and Fill wrap them in an error that says what the
// call waited for, and for how long.
var (
	// ErrSequenceExhausted means that all ids are issued, or reserved for calls that came
	// earlier, up to a tick that does not begin within Config.MaxWait.
	ErrSequenceExhausted = errors.New("core: sequence exhausted")
	// ErrFenced means that ids have reached the fence of their grant, and that the fence was
	// not raised within Config.MaxWait or cannot be raised at present.
	ErrFenced = errors.New("core: fence reached")
	// ErrLost means that the grant was revoked or closed.
	ErrLost = errors.New("core: worker ID lost")
	// ErrInUse means that another generator has the grant.
	ErrInUse = errors.New("core: grant is in use by another generator")
	// ErrClosed means that the generator was closed.
	ErrClosed = errors.New("core: generator is closed")
	// ErrTimestampExhausted means that the present no longer fits the layout's time field.
	ErrTimestampExhausted = errors.New("core: the layout's time has run out")
)

// A FieldError says what is wrong with one field.
type FieldError struct {
	Field  string // for example "Layout.Tick"
	Value  string // the rejected value, for example "1.5ms"
	Reason string // what is expected
}

func (f FieldError) String() string { return f.Field + " " + f.Value + ": " + f.Reason }

// ConfigError is returned by New, NewGrant and Layout.Validate. It lists all invalid fields.
// The module's other packages return it as well.
type ConfigError struct {
	Package string // whose configuration is invalid, for example "core"
	Fields  []FieldError
}

func (e *ConfigError) Error() string {
	all := make([]string, len(e.Fields))
	for i, f := range e.Fields {
		all[i] = f.String()
	}
	return e.Package + ": " + strings.Join(all, "; ")
}

// configError returns a ConfigError, or nil if there are no field errors.
func configError(fields ...FieldError) error {
	if len(fields) == 0 {
		return nil
	}
	return &ConfigError{Package: "core", Fields: fields}
}

// RangeError is returned by Compose, Decode, FirstAt and Range for a value that does not fit
// the layout.
type RangeError struct {
	Field string // for example "Worker"
	Value string // the rejected value
	Limit string // what fits
}

func (e *RangeError) Error() string {
	return "core: " + e.Field + " " + e.Value + " is outside the layout: " + e.Limit
}

// ClockError means that the clock is behind the last id, or behind Config.NotBefore, by more
// than the generator waits for or tolerates.
type ClockError struct {
	Back      time.Duration // how far the clock is behind
	Tolerated time.Duration // how far it may be behind
	NotBefore time.Time     // what it is behind, because of Config.NotBefore; zero: the last id
}

func (e *ClockError) Error() string {
	if !e.NotBefore.IsZero() {
		return fmt.Sprintf("core: ids begin at %s, because of NotBefore: the clock is %v behind that, and calls wait at most %v", formatTime(e.NotBefore), e.Back, e.Tolerated)
	}
	return fmt.Sprintf("core: the clock is %v behind the last id, %v is tolerated", e.Back, e.Tolerated)
}

func formatTime(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
