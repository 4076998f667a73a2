package driver

import (
	"fmt"
	"strings"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/fields"
)

const (
	maxName     = 64
	maxText     = 255
	maxReserved = 1 << 40 // more than any real reservation
)

// Fingerprint returns the string that identifies a layout in a store. Two layouts whose ids mean
// the same have the same fingerprint. A layout's fingerprint never changes.
func Fingerprint(l core.Layout) string {
	l = l.WithDefaults()
	order := "worker,sequence"
	if l.SequenceFirst {
		order = "sequence,worker"
	}
	sign := "signed"
	if l.Unsigned {
		sign = "unsigned"
	}
	return fmt.Sprintf("epoch=%d tick=%d time=%d rollback=%d datacenter=%d worker=%d sequence=%d order=%s %s",
		l.Epoch.UnixMilli(), l.Tick.Milliseconds(), l.TimeBits, l.RollbackBits, l.DatacenterBits, l.WorkerBits, l.SequenceBits, order, sign)
}

// OfDatacenter returns the fingerprint of a namespace that has only the worker IDs of one
// datacenter, made from the fingerprint of its layout.
func OfDatacenter(fingerprint string, datacenter int64) string {
	return fmt.Sprintf("%s only-datacenter=%d", fingerprint, datacenter)
}

// CheckNamespace returns a *core.ConfigError unless the name is 1 to 64 ASCII letters,
// digits and . _ - : /. Case is significant.
func CheckNamespace(name string) error {
	var wrong fields.Errors
	checkName(&wrong, "Namespace", name)
	return wrong.Err("worker")
}

// CheckReservation returns a *core.ConfigError unless a store can reserve n numbers under the key:
// a key follows the rules of a namespace, and n is 1 to 2^40.
func CheckReservation(key string, n int64) error {
	var wrong fields.Errors
	checkName(&wrong, "key", key)
	if n < 1 || n > maxReserved {
		wrong.Add("n", n, "must be 1 to %d", int64(maxReserved))
	}
	return wrong.Err("worker")
}

func checkName(wrong *fields.Errors, field, name string) {
	const allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-:/"
	if name == "" || len(name) > maxName || strings.Trim(name, allowed) != "" {
		wrong.Add(field, name, "must be 1 to 64 letters, digits and . _ - : / of ASCII")
	}
}

// isPrintable reports whether text has 1 to most bytes, all printable ASCII.
func isPrintable(text string, most int) bool {
	return text != "" && len(text) <= most && !strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c > '~' })
}
