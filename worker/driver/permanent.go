package driver

import (
	"errors"

	"github.com/seed-299c1d6b/snowkey/core"
)

// Permanent marks an error as one that a retry cannot mend, such as a wrong password:
// worker.Acquire then returns it at once. The text does not change, and nil stays nil.
// Any error with a method Permanent() bool that returns true has the same effect.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return permanent{err}
}

type permanent struct{ error }

func (p permanent) Permanent() bool { return true }

func (p permanent) Unwrap() error { return p.error }

// IsPermanent reports whether a retry cannot mend the error: it was marked by Permanent, or
// is a *core.ConfigError, *SkewError, *LayoutError, *DurabilityError or
// core.ErrTimestampExhausted.
func IsPermanent(err error) bool {
	var marked interface{ Permanent() bool }
	if errors.As(err, &marked) && marked.Permanent() {
		return true
	}
	var config *core.ConfigError
	var skew *SkewError
	var layout *LayoutError
	var durability *DurabilityError
	return errors.As(err, &config) || errors.As(err, &skew) || errors.As(err, &layout) || errors.As(err, &durability) || errors.Is(err, core.ErrTimestampExhausted)
}
