package token

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// notMade returns the error of a sealer that no ring made.
func notMade(op string) error {
	return errors.New("token: " + op + ": the sealer is nil or zero; Ring.Sealer makes one")
}

// negative returns the error of sealing a negative id.
func negative(id sqltype.ID) error {
	return fmt.Errorf("token: seal %d: %w", int64(id), sqltype.ErrNegative)
}

// refusal is an sqltype.ErrSyntax with the reason.
type refusal string

func (r refusal) Error() string { return string(r) }

func (refusal) Is(target error) bool { return target == sqltype.ErrSyntax }

// refuse returns the error for a text that is no token of the type.
func refuse(token, typeName, reason string, args ...any) error {
	if len(args) > 0 {
		reason = fmt.Sprintf(reason, args...)
	}
	return fmt.Errorf("token: unseal %s: %w", quote(token), refusal("not a token of type "+strconv.Quote(typeName)+reason))
}

// quoteLimit limits how many bytes of an input an error quotes.
const quoteLimit = 64

func quote(s string) string {
	if len(s) <= quoteLimit {
		return strconv.Quote(s)
	}
	return fmt.Sprintf("%q and %d more bytes", s[:quoteLimit], len(s)-quoteLimit)
}
