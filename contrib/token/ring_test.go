package token

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

func TestTypeNames(t *testing.T) {
	r := oneKey(t)
	for name, ok := range map[string]bool{
		"a": true, "order": true, "order_line": true, "a__b": true, strings.Repeat("a", 63): true,
		"": false, "_": false, "_order": false, "order_": false, "Order": false, "order2": false, "order-line": false,
		"ördr": false, "an order": false, strings.Repeat("a", 64): false, strings.Repeat("a", 1000): false,
	} {
		s, err := r.Sealer(name)
		if (err == nil) != ok || (s != nil) != ok || !ok && len(err.Error()) > 300 {
			t.Errorf("%.70q: %v, %v", name, s, err)
		}
		if err := (sqltype.Form{Prefix: name}).Check(); name != "" && (err == nil) != ok {
			t.Errorf("%.70q as a prefix in sqltype: %v", name, err)
		}
	}
}

// A nil or zero Ring or sealer is an error, and no panic, as is a ring without keys.
func TestZero(t *testing.T) {
	var config *core.ConfigError
	if r, err := New(Config{}); r != nil || !errors.As(err, &config) {
		t.Errorf("%v, %v", r, err)
	}
	for _, r := range []*Ring{nil, {}} {
		if s, err := r.Sealer("order"); s != nil || err == nil {
			t.Errorf("%v, %v", s, err)
		}
	}
	for _, s := range []*Sealer{nil, {}} {
		if b, err := s.AppendSeal([]byte("ord_"), 42); string(b) != "ord_" || err == nil {
			t.Errorf("%q, %v", b, err)
		}
		if id, err := s.Unseal(strings.Repeat("0", 22)); id != 0 || err == nil {
			t.Errorf("%d, %v", id, err)
		}
		if block, err := s.SealBlock(42); block != [16]byte{} || err == nil {
			t.Errorf("%x, %v", block, err)
		}
		if id, err := s.OpenBlock([16]byte{}); id != 0 || err == nil {
			t.Errorf("%d, %v", id, err)
		}
	}
}
