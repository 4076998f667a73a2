package testserver

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// home returns the folder of this binary's servers. A watchdog removes it.
var home = sync.OnceValues(func() (string, error) {
	// PostgreSQL's user may not enter root's folder, and MariaDB's script forgets to quote blanks.
	base := os.TempDir()
	if os.Getuid() == 0 || strings.Contains(base, " ") {
		base = "/tmp"
	}
	// The suffix makes sure that no folder's name is the beginning of another's.
	dir, err := os.MkdirTemp(base, "snowkey-test-*.d")
	if err != nil {
		return "", err
	}
	if err := watch(dir); err != nil {
		return "", fmt.Errorf("start watchdog: %w", errors.Join(err, os.RemoveAll(dir)))
	}
	// PostgreSQL's user must get in if root owns the folder.
	return dir, os.Chmod(dir, 0o711)
})

// watchdog removes a home folder, and kills its servers, at the end of its input.
//
//go:embed config/watchdog.sh
var watchdog string

// alive is held open; the kernel closes it when this process is gone.
var alive *os.File //nolint:unused // the garbage collector would close the file

// watch starts the watchdog. Its input ends when this process does, however it dies.
func watch(dir string) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	cmd := exec.Command("/bin/sh", "-c", watchdog, "snowkey-test-watchdog", dir, filepath.Base(dir))
	// It inherits no output: `go test` would wait for it to be closed.
	cmd.Stdin, cmd.Dir, cmd.SysProcAttr = r, "/", detached()
	if err := cmd.Start(); err != nil {
		return errors.Join(err, r.Close(), w.Close())
	}
	alive = w
	return r.Close()
}
