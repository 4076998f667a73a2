package token

import (
	"fmt"

	"github.com/seed-299c1d6b/snowkey/core"
)

// Config configures a Ring. It must have at least one key.
type Config struct {
	// Keys are the secrets of the ring, newest first: the first seals, all open. To rotate them,
	// first add the new one last in all programs, and then move it to the front.
	Keys []Secret
}

// validate returns a core.ConfigError that lists all faults, or nil.
func (c Config) validate() error {
	var faults []core.FieldError
	fault := func(field string, value any, reason string) {
		faults = append(faults, core.FieldError{Field: field, Value: fmt.Sprint(value), Reason: reason})
	}
	if len(c.Keys) == 0 {
		fault("Keys", "[]", "must have a key")
	}
	for i, s := range c.Keys {
		field := fmt.Sprintf("Keys[%d]", i)
		if s.isZero() {
			fault(field, s, "must be set")
			continue
		}
		for j, other := range c.Keys[:i] {
			if !other.isZero() && s.equal(other) {
				fault(field, s, fmt.Sprintf("is the same secret as Keys[%d]", j))
				break
			}
		}
	}
	if faults == nil {
		return nil
	}
	return &core.ConfigError{Package: "token", Fields: faults}
}
