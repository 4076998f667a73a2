package core

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Errors to test for with errors.Is. What Next and Fill return wraps them with
// what was being waited for and how long.
var (
	// ErrSequenceExhausted is returned when a tick's numbers are used up and a
	// place in a later tick did not come within Config.MaxWait.
	ErrSequenceExhausted = errors.New("core: sequence used up")
	// ErrFenced is returned when ids have reached the end of their grant and it
	// was not raised within Config.MaxWait.
	ErrFenced = errors.New("core: at the end of the granted time")
	// ErrLost is returned after the grant was revoked or closed.
	ErrLost = errors.New("core: worker number lost")
	// ErrInUse is returned by New when another generator has the grant.
	ErrInUse = errors.New("core: worker already in use by another generator")
	// ErrClosed is returned after Close.
	ErrClosed = errors.New("core: generator is closed")
	// ErrTimestampExhausted is returned when the layout's time field has run out.
	ErrTimestampExhausted = errors.New("core: the layout's time has run out")
)

// A Fault is one thing that is wrong with one field.
type FieldError struct {
	Field  string // "Layout.Tick"
	Value  string // as it was given: "1.5ms"
	Reason string // what it should be
}

func (f FieldError) String() string { return f.Field + " " + f.Value + ": " + f.Reason }

// ConfigError is returned by New, NewGrant and Layout.Validate; it holds every
// fault that was found, in the order of the fields.
type ConfigError struct {
	Package string // whose configuration it is: "core"
	Fields  []FieldError
}

func (e *ConfigError) Error() string {
	all := make([]string, len(e.Fields))
	for i, f := range e.Fields {
		all[i] = f.String()
	}
	return e.Package + ": " + strings.Join(all, "; ")
}

// configError is nil where there is no fault.
func configError(faults []FieldError) error {
	if len(faults) == 0 {
		return nil
	}
	return &ConfigError{Package: "core", Fields: faults}
}

// RangeError is returned by Compose, Decode, Range and FirstAt for a value
// that the layout cannot hold.
type RangeError struct {
	Field string // "Worker"
	Value string // as it was given
	Limit string // what would fit
}

func (e *RangeError) Error() string {
	return "core: " + e.Field + " " + e.Value + " is outside the layout: " + e.Limit
}

// ClockError is returned when the clock stands behind the ids already issued,
// or behind Config.NotBefore, by more than may be waited for or tolerated.
type ClockError struct {
	Back      time.Duration // how far the clock is behind
	Tolerated time.Duration // how far it might have been
}

func (e *ClockError) Error() string {
	return fmt.Sprintf("core: the clock is %v behind the last id, %v is tolerated", e.Back, e.Tolerated)
}
