package orms

import (
	"bytes"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/go-jet/jet/v2/generator/postgres"
)

var update = flag.Bool("update", false, "write the code that go-jet generates")

func openJet(t *testing.T, db database, src source) store {
	db.tables(t)
	return jetStore{db.pool, src}
}

// The code in jetshop is what go-jet generates from the tables.
func TestJetIsGenerated(t *testing.T) {
	db := open(t, "postgres", servers(t, "postgres")[0])
	db.tables(t)
	dir := t.TempDir()
	if *update {
		dir = "jetshop"
	}
	if err := postgres.GenerateDB(db.pool, "public", dir, jetTypes()); err != nil {
		t.Fatal(err)
	}
	sameFiles(t, dir, "jetshop", "go test -run '^TestJetIsGenerated$' ./internal/integration/orms -update")
}

// sameFiles compares what was generated with what is committed.
func sameFiles(t *testing.T, generated, committed, command string) {
	t.Helper()
	var files [2][]string
	for i, dir := range []string{generated, committed} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				files[i] = append(files[i], path[len(dir):])
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(files[0], files[1]) {
		t.Errorf("%s has the files %q, and %q are generated: %s", committed, files[1], files[0], command)
		return
	}
	for _, name := range files[0] {
		want, err := os.ReadFile(generated + name)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(committed + name); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s%s is not what is generated, %v: %s", committed, name, err, command)
		}
	}
}
