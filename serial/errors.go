package serial

import (
	"fmt"

	"github.com/seed-299c1d6b/snowkey/core"
)

// configError is nil where there is no fault.
func configError(faults []core.FieldError) error {
	if len(faults) == 0 {
		return nil
	}
	return &core.ConfigError{Package: "serial", Fields: faults}
}

// A ParseError is returned for a text that Encode, or [Numbering.Text], cannot
// have given. It names the part that is wrong.
type ParseError struct {
	Text   string // the whole
	Part   string // "prefix", "length", "separator", "time", "fold", "rollback", "worker", "sequence", "check"; "date", "number"
	Value  string // what stands there
	Reason string // what should
}

func (e *ParseError) Error() string {
	return fmt.Sprintf("serial: %s: the %s %s: %s", quote(e.Text), e.Part, quote(e.Value), e.Reason)
}

// quote keeps a message short, whatever somebody pastes.
func quote(text string) string {
	const most = 100
	if len(text) > most {
		return fmt.Sprintf("%.*q…", most, text)
	}
	return fmt.Sprintf("%q", text)
}
