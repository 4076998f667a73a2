package serial

import (
	"fmt"
	"strings"

	"github.com/seed-299c1d6b/snowkey/core"
)

// A ConfigError is returned for a Format or a Numbering that is wrong, and for an
// argument that does not fit it; it holds every fault that was found.
type ConfigError struct{ Faults []core.Fault }

func (e *ConfigError) Error() string {
	all := make([]string, len(e.Faults))
	for i, f := range e.Faults {
		all[i] = f.String()
	}
	return "serial: " + strings.Join(all, "; ")
}

// configError is nil where there is no fault.
func configError(faults []core.Fault) error {
	if len(faults) == 0 {
		return nil
	}
	return &ConfigError{Faults: faults}
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
