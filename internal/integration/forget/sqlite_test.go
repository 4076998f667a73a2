package forget

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	_ "github.com/glebarez/go-sqlite" // the driver "sqlite"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/integration/engines"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
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
					time.Sleep(10 * time.Millisecond) // a request may be under way
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
		} {
			inodes := c.name != "replaced by rename"
			if inodes && mode == "wal" { // its other files take the inode
				continue
			}
			name := c.name + ", journal_mode " + mode
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				path, kept := filepath.Join(t.TempDir(), "lease.sqlite"), filepath.Join(t.TempDir(), "kept.sqlite")
				dsn := "file:" + path + "?_pragma=busy_timeout(1000)&_pragma=journal_mode(" + mode + ")&_pragma=synchronous(2)&_txlock=immediate"
				s := sqlSite("sqlite", func() string { return dsn })
				s.keep = func(t *testing.T) { t.Helper(); execute(t, openDB(t, "sqlite", dsn), "VACUUM INTO '"+kept+"'") }
				if inodes { // between two requests, nobody has the file open
					s.window = 12 * time.Second
					s.open = func(t *testing.T) driver.Store { t.Helper(); return s.admin(t) }
				}
				s.enter = func(g *group, n int) { g.another(dsn, n) }
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

// A visit is holders in another process: one that has connections to a file that was replaced refuses
// to claim anything.
type visit struct {
	DSN, Namespace, Result string
	Window                 time.Duration
	Wanted                 []int64
	N                      int
}

type visited struct {
	Spans       []span
	Took, Ahead time.Duration
	Events      map[core.EventKind]int
	Failures    map[string]int
}

const visitVar = "SNOWKEY_FORGET_VISIT"

// another runs holders in another process for some seconds.
func (g *group) another(dsn string, n int) {
	g.t.Helper()
	v := visit{dsn, g.cfg.Namespace, filepath.Join(g.t.TempDir(), "result"), g.cfg.FenceWindow, g.wanted, n}
	cmd := exec.CommandContext(g.t.Context(), engines.MustNew(os.Executable()), "-test.run=^TestVisit$")
	cmd.Env = append(os.Environ(), visitVar+"="+string(engines.MustNew(json.Marshal(v))))
	out, err := cmd.CombinedOutput()
	var got visited
	if text, readErr := os.ReadFile(v.Result); err == nil {
		err = cmp.Or(readErr, json.Unmarshal(text, &got))
	}
	if err != nil {
		g.failed(fmt.Errorf("%w: %s", err, out))
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.holders = append(g.holders, &holder{took: got.Took, ahead: got.Ahead})
	g.spans = append(g.spans, got.Spans...)
	for kind, n := range got.Events {
		g.events[kind] += n
	}
	for text, n := range got.Failures {
		g.unexpected[text] += n
	}
}

// TestVisit is the other process.
func TestVisit(t *testing.T) {
	text := os.Getenv(visitVar)
	if text == "" {
		return
	}
	var v visit
	must(t, json.Unmarshal([]byte(text), &v))
	s := sqlSite("sqlite", func() string { return v.DSN })
	s.window = v.Window
	g := newGroup(t, *s, "")
	g.cfg.Namespace, g.wanted = v.Namespace, v.Wanted
	g.join(v.N)
	time.Sleep(2 * time.Second)
	g.leave()
	took, ahead := g.newest(v.N)
	result := engines.MustNew(json.Marshal(visited{g.spans, took, ahead, g.events, g.unexpected}))
	must(t, os.WriteFile(v.Result, result, 0o600))
}

func inode(t *testing.T, path string) uint64 {
	t.Helper()
	info, err := os.Stat(path)
	must(t, err)
	return info.Sys().(*syscall.Stat_t).Ino
}
