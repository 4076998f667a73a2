package token

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// A text that opens is the token of its id, and no other. What does not open is an ErrSyntax.
func FuzzUnseal(f *testing.F) {
	s := sealerOf(f, oneKey(f), "order")
	f.Add("", int64(0))
	for _, text := range []string{
		"1996573624012345677", strings.Repeat("0", 22), strings.Repeat("z", 22), "z" + strings.Repeat("0", 21), strings.Repeat("0", 11) + "z" + strings.Repeat("0", 10),
		strings.Repeat("0", 21) + "-", strings.Repeat("é", 11), strings.Repeat("x", 1e6),
	} {
		f.Add(text, int64(-1))
	}
	for _, tt := range golden {
		f.Add(tt.token, int64(tt.id))
	}
	f.Fuzz(func(t *testing.T, token string, n int64) {
		id, err := s.Unseal(token)
		switch {
		case err == nil:
			if again := seal(t, s, id); id < 0 || again != token {
				t.Errorf("%q opens as %d, whose token is %q", token, id, again)
			}
		case id != 0 || !errors.Is(err, sqltype.ErrSyntax) || len(err.Error()) > 500:
			t.Errorf("%q: %d, %v", token, id, err)
		}
		b, err := s.AppendSeal(nil, sqltype.ID(n))
		if (err == nil) != (n >= 0) {
			t.Fatalf("%d: %v", n, err)
		}
		if err != nil {
			return
		}
		if id, err := s.Unseal(string(b)); err != nil || int64(id) != n {
			t.Errorf("%d is sealed as %q, which opens as %d, %v", n, b, id, err)
		}
	})
}
