package token

import (
	"bytes"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// secretSize is the number of bytes of a secret.
const secretSize = 32

// Secret is 32 bytes from which keys are derived. It is made by ParseSecret or NewSecret. The zero
// value is no secret, and New refuses it. However a Secret is printed or encoded, its bytes do not
// show.
type Secret struct {
	key func() [secretSize]byte // in a function, where neither fmt nor reflection finds it
}

// GenerateSecret returns a new random secret as 64 hexadecimal digits. Store the text where
// only the program can read it. ParseSecret reads it.
func GenerateSecret() string {
	var b [secretSize]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// ParseSecret reads a secret of 32 bytes as 64 hexadecimal digits, or in base 64 with the standard
// or the URL alphabet, with or without padding. White space around it is ignored. It refuses
// what NewSecret refuses. An error does not quote the text.
func ParseSecret(text string) (Secret, error) {
	text = strings.TrimSpace(text)
	var b []byte
	var err error
	if len(text) == hex.EncodedLen(secretSize) {
		b, err = hex.DecodeString(text)
	} else {
		standard := strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(text, "="))
		b, err = base64.RawStdEncoding.Strict().DecodeString(standard)
	}
	if err != nil || len(b) != secretSize {
		return Secret{}, fmt.Errorf("token: ParseSecret: a text of %d characters is no secret: "+
			"a secret is 32 bytes as 64 hexadecimal digits or in base 64", len(text))
	}
	return newSecret("ParseSecret", b)
}

// NewSecret returns a copy of 32 random bytes as a Secret. It refuses other lengths, and 32 equal
// bytes, for example zeros. It also refuses 32 bytes of printable ASCII: those are a text for
// ParseSecret, or a password. An error does not quote the bytes.
func NewSecret(b []byte) (Secret, error) { return newSecret("NewSecret", b) }

func newSecret(op string, b []byte) (Secret, error) {
	var fault string
	switch {
	case len(b) != secretSize:
		fault = fmt.Sprintf("%d bytes are no secret: a secret has 32", len(b))
	case bytes.Count(b, b[:1]) == secretSize:
		fault = "32 equal bytes are no secret"
	case !bytes.ContainsFunc(b, func(r rune) bool { return r < ' ' || r > '~' }):
		fault = "32 bytes of text are no secret: ParseSecret reads hexadecimal digits and base 64"
	default:
		key := [secretSize]byte(b)
		return Secret{func() [secretSize]byte { return key }}, nil
	}
	return Secret{}, errors.New("token: " + op + ": " + fault)
}

// isZero reports whether no secret is set.
func (s Secret) isZero() bool { return s.key == nil }

// equal reports whether both are the same secret, in constant time.
func (s Secret) equal(other Secret) bool {
	a, b := s.key(), other.key()
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// derive returns n bytes for one purpose, from which neither the secret nor the bytes for another
// purpose can be computed.
func (s Secret) derive(purpose string, n int) ([]byte, error) {
	key := s.key()
	b, err := hkdf.Key(sha256.New, key[:], nil, "snowkey token "+purpose, n)
	if err != nil {
		return nil, fmt.Errorf("token: derive a key: %w", err)
	}
	return b, nil
}

// String says whether the secret is set.
func (s Secret) String() string {
	if s.isZero() {
		return "token.Secret(not set)"
	}
	return "token.Secret(hidden)"
}

// Format writes what String returns, for every verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, s.String()) }
