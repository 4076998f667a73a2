package testserver

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
)

// shared holds the servers that this test binary shares, and the failures to start one: for
// each engine's kind a function that starts it once. Two kinds may start at the same time.
var shared sync.Map // Kind → func() (*Server, error)

func sharedServer(e *engine) (*Server, error) {
	start, _ := shared.LoadOrStore(e.kind, sync.OnceValues(func() (*Server, error) { return boot(e, freeAddr) }))
	return start.(func() (*Server, error))()
}

// watchdog removes a home folder, and kills its servers, at the end of its input.
//
//go:embed watchdog.sh
var watchdog string

// home returns the folder of this binary's servers. A watchdog removes it.
var home = sync.OnceValues(func() (string, error) {
	base, err := tempBase()
	if err != nil {
		return "", err
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

// starts runs functions on one thread that lives as long as this process, because Linux
// sends the signal of a parent's death when the starting thread ends.
var starts = sync.OnceValue(func() chan<- func() {
	c := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range c {
			f()
		}
	}()
	return c
})

func startCommand(cmd *exec.Cmd) error {
	errc := make(chan error, 1)
	starts() <- func() { errc <- cmd.Start() }
	return <-errc
}
