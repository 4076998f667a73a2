//go:build unix

package testserver

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestFamily checks that a process that has ended, or is not ours, has no family.
func TestFamily(t *testing.T) {
	cmd := exec.Command("/bin/sh", "-c", "exit 0")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	for _, pid := range []int{cmd.Process.Pid, os.Getpid(), os.Getppid(), 1} {
		if tree, err := family(pid, t.TempDir()); err != nil || len(tree) > 0 {
			t.Errorf("family of %d: %v, %v", pid, tree, err)
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
