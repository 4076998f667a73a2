package token

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"fmt"
)

// keySize is that of AES-256.
const keySize = 32

// Ring holds the keys of a program. It is made by New, and safe for concurrent use. The zero value
// and nil have no keys: their methods return an error.
type Ring struct{ in *ring }

// ring is behind a pointer, and so are longSealer and shortSealer, or package fmt would print the
// key of a cipher.Block: for an unexported field of a struct it cannot call Format, and follows one
// pointer at most.
type ring struct {
	keys   []ringKey
	short  []ringKey
	digits *digits
}

type ringKey struct {
	number int // of a short key
	secret Secret
	cipher cipher.Block
}

// New returns a ring of the keys in cfg. An error lists all faults of cfg, and shows no secret. A
// secret that is not set is a fault. So is one that is listed twice, in Keys, ShortKeys or both.
func New(cfg Config) (*Ring, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	r := &ring{digits: newDigits(cfg.Alphabet)}
	for _, s := range cfg.Keys {
		c, err := newCipher(s, "long key")
		if err != nil {
			return nil, err
		}
		r.keys = append(r.keys, ringKey{secret: s, cipher: c})
	}
	for _, k := range cfg.ShortKeys {
		c, err := newCipher(k.Secret, "short key")
		if err != nil {
			return nil, err
		}
		r.short = append(r.short, ringKey{number: k.Number, cipher: c})
	}
	return &Ring{r}, nil
}

// newCipher returns AES with a key that is derived from the secret.
func newCipher(s Secret, purpose string) (cipher.Block, error) {
	key, err := s.derive(purpose, keySize)
	if err != nil {
		return nil, err
	}
	c, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("token: derive a key: %w", err)
	}
	return c, nil
}

// Sealer returns the sealer of a type of rows, for tokens of 22 characters. Make it once per type
// and keep it. The type name is 1 to 63 of a-z and _, and begins and ends with a letter; it is
// part of every token, so it must never change. A ring without Keys is an error.
func (r *Ring) Sealer(typeName string) (*Sealer, error) {
	if err := checkName("Sealer", typeName); err != nil {
		return nil, err
	}
	if r == nil || r.in == nil || len(r.in.keys) == 0 {
		return nil, errors.New("token: Sealer: the ring has no Keys")
	}
	s := &longSealer{typeName: typeName, digits: r.in.digits}
	for _, k := range r.in.keys {
		tag, err := k.secret.derive("long type "+typeName, 8)
		if err != nil {
			return nil, err
		}
		s.keys = append(s.keys, &longKey{k.cipher, binary.BigEndian.Uint64(tag)})
	}
	return &Sealer{s}, nil
}

// ShortSealer returns the sealer of a type of rows, for tokens of 12 characters. Make it once per
// type and keep it. The type name is as for Sealer. A ring without ShortKeys is an error.
func (r *Ring) ShortSealer(typeName string) (*ShortSealer, error) {
	if err := checkName("ShortSealer", typeName); err != nil {
		return nil, err
	}
	if r == nil || r.in == nil || len(r.in.short) == 0 {
		return nil, errors.New("token: ShortSealer: the ring has no ShortKeys")
	}
	s := &shortSealer{typeName: typeName, digits: r.in.digits, newest: r.in.short[0].number}
	for _, k := range r.in.short {
		s.keys[k.number] = newFF1(k.cipher, r.in.digits.base, wordDigits, typeName)
	}
	return &ShortSealer{s}, nil
}

// checkName checks a type name. Its rules are those of a prefix in sqltype.
func checkName(op, name string) error {
	ok := 1 <= len(name) && len(name) <= 63 && name[0] != '_' && name[len(name)-1] != '_'
	for i := range len(name) {
		ok = ok && ('a' <= name[i] && name[i] <= 'z' || name[i] == '_')
	}
	if !ok {
		return fmt.Errorf("token: %s: type name %s: must be 1 to 63 of a-z and _, and begin and end with a letter",
			op, quote(name))
	}
	return nil
}

// Format writes how many keys the ring has, for every verb.
func (r Ring) Format(f fmt.State, _ rune) {
	var in ring
	if r.in != nil {
		in = *r.in
	}
	_, _ = fmt.Fprintf(f, "token.Ring(long keys: %d, short keys: %d)", len(in.keys), len(in.short))
}
