// Package reserve checks what the stores are asked to reserve of a counter.
package reserve

import (
	"fmt"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
)

// most is a bound for one reservation that nobody meets by intent.
const most = 1 << 40

// Check tells what is wrong with a reservation of n numbers under a key, in a
// core.ConfigError.
func Check(key string, n int64) error {
	var faults []core.FieldError
	if worker.CheckNamespace(key) != nil {
		faults = append(faults, core.FieldError{Field: "key", Value: fmt.Sprintf("%.100q", key), Reason: "must be 1 to 64 letters, digits and . _ - : / of ASCII"})
	}
	if n < 1 || n > most {
		faults = append(faults, core.FieldError{Field: "n", Value: fmt.Sprint(n), Reason: fmt.Sprintf("must be 1 to %d", int64(most))})
	}
	if len(faults) > 0 {
		return &core.ConfigError{Package: "worker", Fields: faults}
	}
	return nil
}
