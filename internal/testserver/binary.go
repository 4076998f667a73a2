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

// this is the state of this test binary: what must exist once in it.
var this testBinary

type testBinary struct {
	mu      sync.Mutex
	servers map[Kind]*sharedServer

	homeOnce sync.Once
	homeDir  string
	homeErr  error
	alive    *os.File // held open; the kernel closes it when this process is gone

	startOnce sync.Once
	starts    chan func()
}

// sharedServer starts one shared server once, and remembers the failure as well.
type sharedServer struct {
	once   sync.Once
	server *Server
	err    error
}

func (b *testBinary) shared(e *engine) (*Server, error) {
	b.mu.Lock()
	if b.servers == nil {
		b.servers = map[Kind]*sharedServer{}
	}
	s := b.servers[e.kind]
	if s == nil {
		s = new(sharedServer)
		b.servers[e.kind] = s
	}
	b.mu.Unlock() // two kinds may start at the same time
	s.once.Do(func() { s.server, s.err = boot(e, freeAddr) })
	return s.server, s.err
}

// watchdog removes a home folder, and kills its servers, at the end of its input.
//
//go:embed watchdog.sh
var watchdog string

// home returns the folder of this binary's servers. A watchdog is looking after it.
func (b *testBinary) home() (string, error) {
	b.homeOnce.Do(func() { b.homeDir, b.homeErr = b.newHome() })
	return b.homeDir, b.homeErr
}

func (b *testBinary) newHome() (string, error) {
	base, err := tempBase()
	if err != nil {
		return "", err
	}
	// The suffix makes sure that no folder's name is the beginning of another's.
	dir, err := os.MkdirTemp(base, "snowkey-test-*.d")
	if err != nil {
		return "", err
	}
	if err := b.watch(dir); err != nil {
		return "", fmt.Errorf("start watchdog: %w", errors.Join(err, os.RemoveAll(dir)))
	}
	// PostgreSQL's user must get in if root owns the folder.
	return dir, os.Chmod(dir, 0o711)
}

// watch starts the watchdog. Its input ends when this process does, however it dies.
func (b *testBinary) watch(dir string) error {
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
	b.alive = w
	return r.Close()
}

// start starts cmd from one thread that lives as long as this process, because
// Linux sends the signal of a parent's death when the starting thread ends.
func (b *testBinary) start(cmd *exec.Cmd) error {
	b.startOnce.Do(func() {
		b.starts = make(chan func())
		go func() {
			runtime.LockOSThread()
			for f := range b.starts {
				f()
			}
		}()
	})
	errc := make(chan error, 1)
	b.starts <- func() { errc <- cmd.Start() }
	return <-errc
}
