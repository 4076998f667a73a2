package testserver

import (
	"os"
	"path/filepath"
	"testing"
)

// TestDataKept checks that the second server of a kind begins with a copy of the data that was
// made for the first one.
func TestDataKept(t *testing.T) {
	Slow(t)
	for _, kind := range []Kind{KindPostgres, KindMariaDB} {
		t.Run(string(kind), func(t *testing.T) {
			folder := t.TempDir()
			t.Setenv(runVar, folder)
			first := New(t, kind)
			kept, err := filepath.Glob(filepath.Join(folder, "*"))
			if err != nil || len(kept) != 1 {
				t.Fatalf("kept %q, %v; want one folder", kept, err)
			}
			if err := os.WriteFile(filepath.Join(kept[0], "mark"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := put(first, patience, "x"); err != nil {
				t.Fatal(err)
			}
			second := New(t, kind)
			if _, err := os.Stat(filepath.Join(second.data(), "mark")); err != nil {
				t.Error(err)
			}
			if err := get(second, patience, "x"); err == nil {
				t.Error("it has what the first one was given")
			}
		})
	}
}
