package token

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// keySize is the size of a key of AES-256.
const keySize = 32

// Ring holds the keys of a program. It is made by New, and safe for concurrent use. The zero value
// and nil have no keys: their methods return an error.
type Ring struct{ in *ring }

// ring is behind a pointer, and so is sealer, or package fmt would print the key of a cipher.Block:
// for an unexported field of a struct it cannot call Format, and follows one pointer at most.
type ring struct{ keys []ringKey }

type ringKey struct {
	secret Secret
	cipher cipher.Block
}

// New returns a ring of the keys in cfg. It returns a *core.ConfigError that lists all faults of
// cfg, and shows no secret. A secret that is not set or listed twice is a fault.
func New(cfg Config) (*Ring, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	r := &ring{}
	for _, s := range cfg.Keys {
		c, err := newCipher(s)
		if err != nil {
			return nil, err
		}
		r.keys = append(r.keys, ringKey{s, c})
	}
	return &Ring{r}, nil
}

// newCipher returns AES with a key that is derived from the secret.
func newCipher(s Secret) (cipher.Block, error) {
	key, err := s.derive("long key", keySize)
	if err != nil {
		return nil, err
	}
	c, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("token: derive a key: %w", err)
	}
	return c, nil
}

// Sealer returns the sealer of a type of rows. Make it once per type and keep it. The type name is
// 1 to 63 of a-z and _, and begins and ends with a letter; it is part of every token, so it must
// never change. A nil or zero Ring is an error.
func (r *Ring) Sealer(typeName string) (*Sealer, error) {
	if err := checkName("Sealer", typeName); err != nil {
		return nil, err
	}
	if r == nil || r.in == nil || len(r.in.keys) == 0 {
		return nil, errors.New("token: Sealer: the ring has no Keys")
	}
	s := &sealer{typeName: typeName, blocks: sync.Pool{New: func() any { return new(block) }}}
	for _, k := range r.in.keys {
		tag, err := k.secret.derive("long type "+typeName, 8)
		if err != nil {
			return nil, err
		}
		s.keys = append(s.keys, &typeKey{k.cipher, binary.BigEndian.Uint64(tag)})
	}
	return &Sealer{s}, nil
}

// checkName checks a type name, by the rules of a prefix in sqltype.
func checkName(op, name string) error {
	if name == "" || (sqltype.Form{Prefix: name}).Check() != nil {
		return fmt.Errorf("token: %s: type name %s: must be 1 to 63 of a-z and _, and begin and end with a letter",
			op, quote(name))
	}
	return nil
}

// Format writes how many keys the ring has, for every verb.
func (r Ring) Format(f fmt.State, _ rune) {
	keys := 0
	if r.in != nil {
		keys = len(r.in.keys)
	}
	_, _ = fmt.Fprintf(f, "token.Ring(keys: %d)", keys)
}
