package token

import (
	"errors"
	"fmt"
	"strings"
)

// Alphabet is the digits of tokens: those of sqltype.ID.Base62 or Base58. The zero value is Base62.
type Alphabet uint8

// The alphabets. Changing the alphabet of a ring changes all its tokens.
const (
	Base62 Alphabet = iota // 0-9, A-Z, a-z
	Base58                 // Bitcoin's, which omits 0, I, O and l

	alphabets // how many there are
)

// String returns the alphabet's name, for example "base 62".
func (a Alphabet) String() string {
	if a >= alphabets {
		return fmt.Sprintf("Alphabet(%d)", uint8(a))
	}
	return [...]string{"base 62", "base 58"}[a]
}

// Config configures a Ring. It must have at least one of Keys and ShortKeys.
type Config struct {
	// Keys are the keys of Sealers, newest first: the first seals, all open. To rotate them, first
	// add the new one last in all programs, and then move it to the front.
	Keys []Secret

	// ShortKeys are the keys of ShortSealers, in the same order. No two have the same Number.
	ShortKeys []ShortKey

	// Alphabet is the digits of the tokens. The zero value is Base62.
	Alphabet Alphabet
}

// ShortKey is a key of ShortSealers.
type ShortKey struct {
	// Number is 0 to 57. It is the first digit of each token, and selects the key that opens it, so
	// never change the number of a key. From 10 on that digit is a letter, and no token looks like
	// a decimal id.
	Number int

	Secret Secret
}

// shortNumbers is how many numbers of short keys there are: the digits of the smaller alphabet.
const shortNumbers = 58

// validate returns an error that lists all faults, or nil.
func (c Config) validate() error {
	var faults []string
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }

	if c.Alphabet >= alphabets {
		fault("Alphabet %d: must be Base62 or Base58", uint8(c.Alphabet))
	}
	if len(c.Keys)+len(c.ShortKeys) == 0 {
		fault("Keys and ShortKeys: one of them must have a key")
	}
	type named struct {
		name   string
		secret Secret
	}
	var secrets []named
	for i, s := range c.Keys {
		secrets = append(secrets, named{fmt.Sprintf("Keys[%d]", i), s})
	}
	numbers := map[int]int{} // of a key, its index
	for i, k := range c.ShortKeys {
		secrets = append(secrets, named{fmt.Sprintf("ShortKeys[%d].Secret", i), k.Secret})
		if first, ok := numbers[k.Number]; ok {
			fault("ShortKeys[%d].Number %d: ShortKeys[%d] has the same", i, k.Number, first)
			continue
		}
		numbers[k.Number] = i
		if k.Number < 0 || k.Number >= shortNumbers {
			fault("ShortKeys[%d].Number %d: must be 0 to %d", i, k.Number, shortNumbers-1)
		}
	}
	for i, s := range secrets {
		if s.secret.isZero() {
			fault("%s: is not set", s.name)
			continue
		}
		for _, other := range secrets[:i] {
			if !other.secret.isZero() && s.secret.equal(other.secret) {
				fault("%s: is the same secret as %s", s.name, other.name)
				break
			}
		}
	}
	if faults == nil {
		return nil
	}
	return errors.New("token: " + strings.Join(faults, "; "))
}
