package orms

import (
	"bytes"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-jet/jet/v2/generator/postgres"
)

var update = flag.Bool("update", false, "write the code that go-jet generates")

func openJet(t *testing.T, db database, src source) store {
	db.tables(t)
	switch db.kind {
	case "mysql":
		return jetOther{jetMySQL(), trimmed{db.pool}, src}
	case "sqlite":
		return jetOther{jetSQLite(), trimmed{db.pool}, src}
	}
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
	files := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		want, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		if got, err := os.ReadFile(filepath.Join("jetshop", name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what go-jet generates, %v: go test -run '^TestJetIsGenerated$' ./internal/integration/orms -update", name, err)
		}
		return nil
	})
	if err != nil || files < 6 {
		t.Errorf("%d files, %v", files, err)
	}
}
