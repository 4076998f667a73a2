package filestore

import (
	"testing"
)

// FuzzDecode checks that a decoded record has a fencing token, and is the same after it is
// encoded again.
func FuzzDecode(f *testing.F) {
	for _, row := range []string{`{"epoch":1,"token":"t","owner":"o","until_ts":5,"expires_at":6}`, `{"epoch":3}`, `{}`, ``, `null`, `{"epoch":1,"token":"","until_ts":-1} x`} {
		f.Add([]byte(row))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		rec, err := decode(content)
		if err != nil {
			return
		}
		if rec.FencingToken < 1 {
			t.Errorf("%q: %+v", content, rec)
		}
		again, err := encode(rec)
		if err != nil {
			t.Fatal(err)
		}
		if second, err := decode(again); err != nil || second != rec {
			t.Errorf("%q: %+v, then %+v, %v", content, rec, second, err)
		}
	})
}
