package ddl

import (
	"errors"
	"fmt"
	"strings"

	"github.com/seed-299c1d6b/snowkey/core"
)

// ConfigError is returned for input that no SQL can be written from; it holds
// every fault that was found. A fault of a layout has core's name for its field.
type ConfigError struct{ Faults []core.Fault }

func (e *ConfigError) Error() string {
	all := make([]string, len(e.Faults))
	for i, f := range e.Faults {
		all[i] = f.String()
	}
	return "ddl: " + strings.Join(all, "; ")
}

// faults gathers what is wrong before anything is written.
type faults []core.Fault

func (f *faults) add(field, value, format string, args ...any) {
	*f = append(*f, core.Fault{Field: field, Value: value, Reason: fmt.Sprintf(format, args...)})
}

func (f faults) err() error {
	if len(f) == 0 {
		return nil
	}
	return &ConfigError{f}
}

// unsupported is an errors.ErrUnsupported that names the database.
func unsupported(d Dialect, format string, args ...any) error {
	return fmt.Errorf("ddl: %s has no %s: %w", d.product(), fmt.Sprintf(format, args...), errors.ErrUnsupported)
}
