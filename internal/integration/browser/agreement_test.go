package browser

import (
	_ "embed"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

func ptime(t testing.TB, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

//go:embed testdata/agreement.js
var agreement string

// The page and the API, whose answers come from package core, agree on thousands of ids in
// random layouts, on periods, and on invalid layouts, ids and times.
func TestAgreement(t *testing.T) {
	t.Parallel()
	tb := page(t, serve(t), "")
	tb.allow("status of 400") // half of what is asked is wrong
	seed := rand.Uint32()
	type outcome struct {
		Asked, Ids, Refused int
		Differ              []string
	}
	got := eval[outcome](tb, fmt.Sprintf("(async () => {%s; return await compare(%d, 250, 20)})()", agreement, seed))
	t.Logf("seed %d: %d questions, %d ids, %d refusals", seed, got.Asked, got.Ids, got.Refused)
	for i, d := range got.Differ {
		if i < 20 {
			t.Errorf("seed %d: %s", seed, d)
		}
	}
	if got.Ids < 2000 || got.Refused < 50 || got.Asked-got.Refused < 300 {
		t.Errorf("too little was compared: %+v", got)
	}
}
