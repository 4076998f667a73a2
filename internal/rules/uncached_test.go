package rules

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Tests that run programs, and may have a result from go test's cache: the programs are the test
// itself, belong to Go or to the machine, or are files that the test reads too.
var mayBeCached = []string{"ddl", "sqltype", "worker/model"}

// Go's cache does not know what a program that a test runs depends on. ./test.sh runs such tests
// each time if they call testserver.Uncached, or read the variable that it reads.
func TestUncached(t *testing.T) {
	runs, asks := map[string]bool{}, map[string]bool{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains([]string{".git", "bin", "node_modules", "testdata"}, entry.Name()):
			return filepath.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		folder := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(path)), "../../")
		runs[folder] = runs[folder] || strings.Contains(string(text), "\t\"os/exec\"\n")
		asks[folder] = asks[folder] || strings.Contains(string(text), "testserver.") || strings.Contains(string(text), "SNOWKEY_TEST_RUN")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range mayBeCached {
		if !runs[folder] {
			t.Errorf("the tests of %s run no program, and need no exception", folder)
		}
		delete(runs, folder)
	}
	for folder, does := range runs {
		if does && !asks[folder] && folder != "internal/testserver" {
			t.Errorf("the tests of %s run programs, and do not call testserver.Uncached", folder)
		}
	}
}
