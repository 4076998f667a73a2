package forget

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	_ "github.com/glebarez/go-sqlite" // the driver "sqlite"
)

// A file of SQLite is replaced by a copy from before, with what belongs to it.
func TestSQLite(t *testing.T) {
	for _, mode := range []string{"delete", "wal"} {
		for _, c := range []struct {
			name string
			put  func(t *testing.T, kept, path string)
		}{
			{"replaced by rename", func(t *testing.T, kept, path string) { t.Helper(); must(t, os.Rename(kept, path)) }},
			{"removed, and its inode used again", func(t *testing.T, kept, path string) {
				t.Helper()
				old := inode(t, path)
				for try := 0; ; try++ {
					must(t, os.Remove(path))
					if out, err := exec.CommandContext(t.Context(), "cp", kept, path).CombinedOutput(); err != nil {
						t.Fatalf("%v: %s", err, out)
					}
					if inode(t, path) == old {
						return
					}
					if try == 20 {
						t.Log("the inode was not used again: this file system does not do that, or the file is open")
						return
					}
				}
			}},
			{"removed", func(t *testing.T, _, path string) { t.Helper(); must(t, os.Remove(path)) }},
		} {
			name := c.name + ", journal_mode " + mode
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				path, kept := filepath.Join(t.TempDir(), "lease.sqlite"), filepath.Join(t.TempDir(), "kept.sqlite")
				dsn := "file:" + path + "?_pragma=busy_timeout(1000)&_pragma=journal_mode(" + mode + ")&_pragma=synchronous(2)&_txlock=immediate"
				s := sqlSite("sqlite", func() string { return dsn })
				s.keep = func(t *testing.T) { t.Helper(); execute(t, openDB(t, "sqlite", dsn), "VACUUM INTO '"+kept+"'") }
				s.first = c.name == "removed"
				s.event = func(t *testing.T) {
					t.Helper()
					for _, suffix := range []string{"-wal", "-shm", "-journal"} {
						_ = os.Remove(path + suffix)
					}
					c.put(t, kept, path)
				}
				prove(t, "SQLite: "+name, *s)
			})
		}
	}
}

func inode(t *testing.T, path string) uint64 {
	t.Helper()
	info, err := os.Stat(path)
	must(t, err)
	return info.Sys().(*syscall.Stat_t).Ino
}
