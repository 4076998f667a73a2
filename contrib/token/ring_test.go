package token

import (
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

func TestFaults(t *testing.T) {
	s1, s2 := secret(t, text1), secret(t, text2)
	for _, tt := range []struct {
		name string
		cfg  Config
		want []string
	}{
		{"zero", Config{}, []string{"Keys and ShortKeys: one of them must have a key"}},
		{"zero secret", Config{Keys: []Secret{s1, {}}}, []string{"Keys[1]: is not set"}},
		{"zero short secret", Config{ShortKeys: []ShortKey{{}}}, []string{"ShortKeys[0].Secret: is not set"}},
		{"twice", Config{Keys: []Secret{s1, s2, secret(t, strings.ToUpper(text1))}}, []string{"Keys[2]: is the same secret as Keys[0]"}},
		{"twice short", Config{ShortKeys: []ShortKey{{1, s1}, {2, s1}}}, []string{"ShortKeys[1].Secret: is the same secret as ShortKeys[0].Secret"}},
		{"two purposes", Config{Keys: []Secret{s1}, ShortKeys: []ShortKey{{1, s2}, {2, s1}}}, []string{"ShortKeys[1].Secret: is the same secret as Keys[0]"}},
		{"number below", Config{ShortKeys: []ShortKey{{-1, s1}}}, []string{"ShortKeys[0].Number -1: must be 0 to 57"}},
		{"number above", Config{ShortKeys: []ShortKey{{58, s1}}}, []string{"ShortKeys[0].Number 58: must be 0 to 57"}},
		{"number twice", Config{ShortKeys: []ShortKey{{7, s1}, {7, s2}}}, []string{"ShortKeys[1].Number 7: ShortKeys[0] has the same"}},
		{"alphabet", Config{Keys: []Secret{s1}, Alphabet: 2}, []string{"Alphabet 2: must be Base62 or Base58"}},
		{
			"all at once", Config{Keys: []Secret{{}}, ShortKeys: []ShortKey{{99, s1}, {99, s1}}, Alphabet: 255},
			[]string{"Keys[0]", "ShortKeys[0].Number 99", "ShortKeys[1].Number 99", "ShortKeys[1].Secret", "Alphabet 255"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := New(tt.cfg)
			if r != nil || err == nil || !strings.HasPrefix(err.Error(), "token: ") {
				t.Fatalf("%v, %v", r, err)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v, want %s", err, want)
				}
			}
			if got := strings.Count(err.Error(), ";") + 1; got != len(tt.want) {
				t.Errorf("%d faults, want %d: %v", got, len(tt.want), err)
			}
		})
	}
}

func TestTypeNames(t *testing.T) {
	r := oneKey(t, Base62)
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
			short, shortErr := r.ShortSealer(name)
			if (shortErr == nil) != ok || (short != nil) != ok {
				t.Errorf("ShortSealer: %v, %v", short, shortErr)
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
	onlyLong := mustRing(t, Config{Keys: []Secret{secret(t, text1)}})
	onlyShort := mustRing(t, Config{ShortKeys: []ShortKey{{1, secret(t, text1)}}})
	for name, r := range map[string]*Ring{"nil": nil, "zero": {}, "without Keys": onlyShort} {
		t.Run("Sealer of a ring/"+name, func(t *testing.T) {
			if s, err := r.Sealer("order"); s != nil || err == nil || !strings.Contains(err.Error(), "the ring has no Keys") {
				t.Errorf("%v, %v", s, err)
			}
		})
	}
	for name, r := range map[string]*Ring{"nil": nil, "zero": {}, "without ShortKeys": onlyLong} {
		t.Run("ShortSealer of a ring/"+name, func(t *testing.T) {
			if s, err := r.ShortSealer("order"); s != nil || err == nil || !strings.Contains(err.Error(), "the ring has no ShortKeys") {
				t.Errorf("%v, %v", s, err)
			}
		})
	}
	for name, s := range map[string]sqltype.Sealer{
		"nil": (*Sealer)(nil), "zero": new(Sealer), "nil short": (*ShortSealer)(nil), "zero short": new(ShortSealer),
	} {
		t.Run("sealer/"+name, func(t *testing.T) {
			if b, err := s.AppendSeal([]byte("ord_"), 42); string(b) != "ord_" || err == nil || !strings.Contains(err.Error(), "token: seal: the sealer is nil or zero") {
				t.Errorf("%q, %v", b, err)
			}
			for _, token := range []string{"", strings.Repeat("0", 12), strings.Repeat("0", 22)} {
				if id, err := s.Unseal(token); id != 0 || err == nil || !strings.Contains(err.Error(), "token: unseal: the sealer is nil or zero") {
					t.Errorf("%d, %v", id, err)
				}
			}
		})
	}
	for name, s := range map[string]*Sealer{"nil": nil, "zero": {}} {
		t.Run("blocks/"+name, func(t *testing.T) {
			if block, err := s.SealBlock(42); block != [16]byte{} || err == nil {
				t.Errorf("%x, %v", block, err)
			}
			if id, err := s.OpenBlock([16]byte{}); id != 0 || err == nil {
				t.Errorf("%d, %v", id, err)
			}
		})
	}
}
