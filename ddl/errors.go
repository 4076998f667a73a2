package ddl

import (
	"errors"
	"fmt"

	"github.com/seed-299c1d6b/snowkey/core"
)

// faults gathers what is wrong before anything is written.
type faults []core.FieldError

func (f *faults) add(field, value, format string, args ...any) {
	*f = append(*f, core.FieldError{Field: field, Value: value, Reason: fmt.Sprintf(format, args...)})
}

func (f faults) err() error {
	if len(f) == 0 {
		return nil
	}
	return &core.ConfigError{Package: "ddl", Fields: f}
}

// unsupported is an errors.ErrUnsupported that names the database.
func unsupported(d Dialect, format string, args ...any) error {
	return fmt.Errorf("ddl: %s has no %s: %w", d.product(), fmt.Sprintf(format, args...), errors.ErrUnsupported)
}
