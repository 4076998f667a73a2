package scale

import (
	"slices"
	"testing"
)

func TestPick(t *testing.T) {
	for value, want := range map[string]int{"": 2, "full": 2, "small": 1} {
		t.Setenv(Variable, value)
		if got := Pick(t, 1, 2); got != want {
			t.Errorf("%q: %d, want %d", value, got, want)
		}
	}
}

func TestRotate(t *testing.T) {
	cases := []int{0, 1, 2, 3, 4, 5, 6, 7}
	seen := map[int]bool{}
	for _, round := range []string{"0", "1", "2", "3", "4", "5"} {
		t.Run(round, func(t *testing.T) {
			t.Setenv(Round, round)
			got := Rotate(t, cases)
			seen[got[0]] = true
			sorted := slices.Sorted(slices.Values(got))
			if !slices.Equal(sorted, cases) || (got[0]+1)%8 != got[1] {
				t.Errorf("round %s: %v", round, got)
			}
		})
	}
	if len(seen) < 4 || cases[0] != 0 {
		t.Errorf("six rounds begin at %v; the cases are %v", seen, cases)
	}
	if got := Rotate(t, []int{}); len(got) != 0 {
		t.Errorf("of no cases: %v", got)
	}
}
