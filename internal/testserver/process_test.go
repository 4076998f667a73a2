//go:build unix

package testserver

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestTempBase(t *testing.T) {
	closed := filepath.Join(t.TempDir(), "closed")
	inside := filepath.Join(closed, "inside")
	blank := filepath.Join(t.TempDir(), "a b")
	for _, d := range []string{inside, blank} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	if open(closed) || open(inside) || open(filepath.Join(inside, "absent")) {
		t.Error("a closed folder is taken for open")
	}
	root := os.Getuid() == 0
	for dir, usable := range map[string]bool{inside: !root, blank: false, "/var/tmp": true} {
		t.Setenv("TMPDIR", dir)
		got, err := tempBase()
		if err != nil || (got == dir) != usable {
			t.Errorf("TMPDIR=%q: %q, %v; usable %v", dir, got, err, usable)
		}
	}
}

// TestFamily checks the errors: a process that ended, and one that is not ours.
func TestFamily(t *testing.T) {
	cmd := exec.Command("/bin/sh", "-c", "exit 0")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	for _, pid := range []int{cmd.Process.Pid, os.Getpid(), os.Getppid(), 1} {
		if tree, err := family(pid); err == nil {
			t.Errorf("family of %d: %v", pid, tree)
		}
	}
}

// TestEnvironment checks that nothing of the caller's environment gets through.
func TestEnvironment(t *testing.T) {
	t.Setenv("PGPORT", "1")
	t.Setenv("MYSQL_TCP_PORT", "1")
	t.Setenv("ETCD_NAME", "stranger")
	s := &Server{Kind: KindEtcd, engine: engines()[KindEtcd], dir: t.TempDir()}
	for _, v := range s.program("/bin/true").Env {
		name, _, _ := strings.Cut(v, "=")
		switch name {
		case "PATH", "HOME", "TMPDIR", "LC_ALL", "TZ", "LD_LIBRARY_PATH", "ETCD_UNSUPPORTED_ARCH":
		default:
			t.Errorf("%s is passed on", name)
		}
	}
}
