package filestore

import (
	"encoding/json"
	"testing"
)

// FuzzDecode holds that a row that is taken has an epoch, and is the same when it is
// written again.
func FuzzDecode(f *testing.F) {
	for _, row := range []string{`{"epoch":1,"token":"t","owner":"o","until_ts":5,"expires_at":6}`, `{"epoch":3}`, `{}`, ``, `null`, `{"epoch":1,"token":"","until_ts":-1} x`} {
		f.Add([]byte(row))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		row, err := decode(content)
		if err != nil {
			return
		}
		if row.FencingToken < 1 {
			t.Errorf("%q: %+v", content, row)
		}
		again, err := json.Marshal(file{row.FencingToken, row.ClaimID, row.Owner, row.Fence, row.Expires})
		if err != nil {
			t.Fatal(err)
		}
		if second, err := decode(again); err != nil || second != row {
			t.Errorf("%q: %+v, then %+v, %v", content, row, second, err)
		}
	})
}
