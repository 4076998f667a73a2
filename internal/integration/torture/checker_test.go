//go:build unix

package torture

import (
	"math/rand/v2"
	"path/filepath"
	"testing"
)

// The checker finds the same as counting each id.
func TestChecker(t *testing.T) {
	withDuplicates := 0
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		c := newChecker(t.TempDir())
		c.most = 1 + rng.IntN(20)
		seen := map[int64]uint64{}
		var ids, want uint64
		for source := range rng.IntN(100) {
			first := rng.Int64N(1 << rng.IntN(20))
			last := first + rng.Int64N(30)
			if err := c.add(interval{first, last, int64(source)}); err != nil {
				t.Fatal(err)
			}
			for id := first; id <= last; id++ {
				ids++
				if seen[id]++; seen[id] > 1 {
					want++
				}
			}
		}
		found, err := c.finish()
		if err != nil {
			t.Fatal(err)
		}
		if found.ids != ids || found.duplicates != want || (want > 0) != (len(found.first) > 0) {
			t.Fatalf("seed %d: %d ids, %d duplicates; found %+v", seed, ids, want, found)
		}
		for _, d := range found.first {
			if d.first > d.last || seen[d.first] < 2 || seen[d.last] < 2 {
				t.Fatalf("seed %d: %+v", seed, d)
			}
		}
		if want > 0 {
			withDuplicates++
		}
		if left, err := filepath.Glob(filepath.Join(c.dir, "*")); err != nil || len(left) > 0 {
			t.Fatalf("left behind: %q, %v", left, err)
		}
	}
	if withDuplicates == 0 || withDuplicates == 300 {
		t.Errorf("%d of 300 had duplicates", withDuplicates)
	}
	if err := newChecker(t.TempDir()).add(interval{2, 1, 0}); err == nil {
		t.Error("an interval that ends before it begins is no error")
	}
}

// All records of a process can be read, except one that its death cut off.
func TestLogbook(t *testing.T) {
	path := filepath.Join(t.TempDir(), "book")
	l, err := openLogbook(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.file.Close()
	l.write(runs(nil, []int64{5, 6, 7, 9, 8, 9, 1 << 62, 1<<62 + 1})...)
	l.write(record{-3, 7, claimed})
	if _, err := l.file.Write(make([]byte, recordSize-1)); err != nil {
		t.Fatal(err)
	}
	want := []record{{5, 3, issued}, {9, 1, issued}, {8, 2, issued}, {1 << 62, 2, issued}, {-3, 7, claimed}}
	var got []record
	next, err := readLogbook(path, 0, func(r record) { got = append(got, r) })
	if err != nil || next != int64(len(want))*recordSize || len(got) != len(want) {
		t.Fatalf("%v up to %d, %v", got, next, err)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("record %d: %+v, want %+v", i, got[i], want[i])
		}
	}
	if _, err := l.file.Write([]byte{0}); err != nil { // what was cut off was still being written
		t.Fatal(err)
	}
	if again, err := readLogbook(path, next, func(record) {}); err != nil || again != next+recordSize {
		t.Errorf("up to %d, %v", again, err)
	}
}
