package token

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

func TestFaults(t *testing.T) {
	s1, s2 := secret(t, text1), secret(t, text2)
	for _, tt := range []struct {
		name string
		cfg  Config
		want string
	}{
		{"zero", Config{}, "token: Keys []: must have a key"},
		{"zero secret", Config{Keys: []Secret{s1, {}}}, "token: Keys[1] token.Secret(not set): must be set"},
		{"twice", Config{Keys: []Secret{s1, s2, secret(t, strings.ToUpper(text1))}}, "token: Keys[2] token.Secret(hidden): is the same secret as Keys[0]"},
		{
			"all at once", Config{Keys: []Secret{{}, s1, s1}},
			"token: Keys[0] token.Secret(not set): must be set; Keys[2] token.Secret(hidden): is the same secret as Keys[1]",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := New(tt.cfg)
			var config *core.ConfigError
			if r != nil || !errors.As(err, &config) || err.Error() != tt.want {
				t.Errorf("%v, %v", r, err)
			}
		})
	}
}

func TestTypeNames(t *testing.T) {
	r := oneKey(t)
	for name, ok := range map[string]bool{
		"a": true, "order": true, "order_line": true, "a__b": true, strings.Repeat("a", 63): true,
		"": false, "_": false, "_order": false, "order_": false, "Order": false, "order2": false, "order-line": false,
		"ördr": false, "an order": false, strings.Repeat("a", 64): false, strings.Repeat("a", 1000): false,
	} {
		t.Run(name[:min(len(name), 70)], func(t *testing.T) {
			s, err := r.Sealer(name)
			if (err == nil) != ok || (s != nil) != ok {
				t.Errorf("Sealer: %v, %v", s, err)
			}
			if !ok && (!strings.Contains(err.Error(), "token: Sealer: type name "+quote(name)) || len(err.Error()) > 300) {
				t.Error(err)
			}
			if err := (sqltype.Form{Prefix: name}).Check(); name != "" && (err == nil) != ok {
				t.Errorf("as a prefix in sqltype: %v", err)
			}
		})
	}
}

// A nil or zero Ring or sealer is an error, and no panic.
func TestZero(t *testing.T) {
	for name, r := range map[string]*Ring{"nil": nil, "zero": {}} {
		t.Run("ring/"+name, func(t *testing.T) {
			if s, err := r.Sealer("order"); s != nil || err == nil || !strings.Contains(err.Error(), "the ring has no Keys") {
				t.Errorf("%v, %v", s, err)
			}
		})
	}
	for name, s := range map[string]*Sealer{"nil": nil, "zero": {}} {
		t.Run("sealer/"+name, func(t *testing.T) {
			if b, err := s.AppendSeal([]byte("ord_"), 42); string(b) != "ord_" || err == nil || !strings.Contains(err.Error(), "token: seal: the sealer is nil or zero") {
				t.Errorf("%q, %v", b, err)
			}
			for _, token := range []string{"", strings.Repeat("0", 22)} {
				if id, err := s.Unseal(token); id != 0 || err == nil || !strings.Contains(err.Error(), "token: unseal: the sealer is nil or zero") {
					t.Errorf("%d, %v", id, err)
				}
			}
			if block, err := s.SealBlock(42); block != [16]byte{} || err == nil {
				t.Errorf("%x, %v", block, err)
			}
			if id, err := s.OpenBlock([16]byte{}); id != 0 || err == nil {
				t.Errorf("%d, %v", id, err)
			}
		})
	}
}
