package testserver

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

const (
	setUpLimit = 5 * time.Minute // of a program that makes the data; machines of continuous integration are slow
	startLimit = 3 * time.Minute
	probeLimit = 10 * time.Second // of one question to a server
	probePause = 5 * time.Millisecond
	logLimit   = 4000 // bytes of a log that an error shows
	portTries  = 5
)

// boot makes the data of a new server, and starts it on an address of nextAddr,
// with arguments added to its command line.
func boot(e *engine, nextAddr func() (string, error), arguments ...string) (*Server, error) {
	s, err := prepare(e)
	if err != nil {
		return nil, err
	}
	s.arguments = arguments
	if err := s.startOnFreePort(nextAddr); err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.dir))
	}
	return s, nil
}

// prepare makes the data of a new server.
func prepare(e *engine) (*Server, error) {
	find := e.find
	if e.lookup != nil {
		find = e.lookup
	}
	programs, err := find()
	if err != nil {
		return nil, err
	}
	home, err := home()
	if err != nil {
		return nil, fmt.Errorf("temporary folder of %s: %w", e.kind, err)
	}
	dir, err := os.MkdirTemp(home, string(e.kind)+"-")
	if err != nil {
		return nil, err
	}
	s := &Server{Kind: e.kind, engine: e, programs: programs, dir: dir, tag: filepath.Base(home)}
	if e.unprivileged {
		err = giveToUser(dir)
	}
	if err == nil && e.setup != nil {
		err = e.setup(s)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return s, nil
}

// startOnFreePort starts a server on the first of these addresses that is free.
func (s *Server) startOnFreePort(nextAddr func() (string, error)) error {
	for try := 1; ; try++ {
		addr, err := nextAddr()
		if err != nil {
			return err
		}
		s.Addr, s.DSN = addr, s.engine.dsn(addr)
		s.holdPort(addr)
		err = s.start()
		if err == nil {
			return nil
		}
		s.releasePorts()
		if !portInUse(err) || try == portTries {
			return err
		}
	}
}

// portInUse reports whether another process took the port after freeAddr found it free.
func portInUse(err error) bool {
	return strings.Contains(strings.ToLower(err.Error()), "address already in use")
}

// start starts the process and waits until it answers. The caller holds mu, or
// is the only one that knows s.
func (s *Server) start() error {
	log, err := os.OpenFile(s.logPath(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close() // the server has its own copy
	info, err := log.Stat()
	if err != nil {
		return err
	}
	cmd := s.program(append(s.engine.command(s), s.arguments...)...)
	if s.engine.rewritesTitle {
		cmd.Args[0] = filepath.Join(s.dir, filepath.Base(cmd.Path))
	}
	// A file, and not the test's own output: `go test` would wait for its end.
	cmd.Stdout, cmd.Stderr = log, log
	if err := startCommand(cmd); err != nil {
		return fmt.Errorf("start %s: %w", s.Kind, err)
	}
	exited := make(chan struct{})
	s.cmd, s.exited = cmd, exited
	go func() {
		_ = cmd.Wait() // how it ended is in cmd.ProcessState
		close(exited)
	}()
	if err := s.awaitReady(); err != nil {
		err = fmt.Errorf("start %s: %w; end of its log:\n%s", s, err, s.logTail(info.Size()))
		if s.running() {
			err = errors.Join(err, s.kill())
		}
		return err
	}
	return nil
}

func (s *Server) awaitReady() error {
	limit := time.NewTimer(startLimit)
	defer limit.Stop()
	tick := time.NewTicker(probePause)
	defer tick.Stop()
	for {
		err := s.engine.ready(s)
		if err == nil {
			return s.checkVersion()
		}
		select {
		case <-s.exited:
			return fmt.Errorf("it ended: %v", s.cmd.ProcessState)
		case <-limit.C:
			return fmt.Errorf("not ready after %v: %w", startLimit, err)
		case <-tick.C:
		}
	}
}

// program returns a command that runs in the server's folder, as its user, with
// an environment in which nothing of the caller can change what it does.
func (s *Server) program(argv ...string) *exec.Cmd {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = s.dir
	path := os.Getenv("PATH") + ":/usr/bin:/bin:/usr/sbin:/sbin" // set-up scripts need the usual tools
	cmd.Env = []string{"PATH=" + path, "HOME=" + s.dir, "TMPDIR=" + s.dir, "LC_ALL=C", "TZ=UTC"}
	if v := os.Getenv("LD_LIBRARY_PATH"); v != "" {
		cmd.Env = append(cmd.Env, "LD_LIBRARY_PATH="+v) // programs of a _BIN folder may need it
	}
	if s.Kind == KindEtcd && runtime.GOARCH != "amd64" {
		cmd.Env = append(cmd.Env, "ETCD_UNSUPPORTED_ARCH="+runtime.GOARCH) // etcd 3.4 asks for it on arm64
	}
	cmd.SysProcAttr = dependent(s.engine.unprivileged)
	return cmd
}

// run runs a program of the set-up to its end.
func (s *Server) run(argv ...string) error {
	var out bytes.Buffer
	cmd := s.program(argv...)
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = quickLimit // a child of its own may keep the output open
	err := startCommand(cmd)
	if err == nil {
		late := time.AfterFunc(setUpLimit, func() { _ = cmd.Process.Kill() })
		err = cmd.Wait()
		late.Stop()
	}
	if err != nil {
		return fmt.Errorf("set up %s: %s: %w; end of its output:\n%s", s.Kind, argv[0], err, tail(out.Bytes()))
	}
	return nil
}

func (s *Server) logPath() string { return filepath.Join(s.dir, "log") }

// logTail returns the end of what the server has logged since byte from.
func (s *Server) logTail(from int64) string {
	b, err := os.ReadFile(s.logPath())
	if err != nil {
		return err.Error()
	}
	return tail(b[min(from, int64(len(b))):])
}

func tail(b []byte) string {
	return strings.TrimSpace(string(b[max(0, len(b)-logLimit):]))
}

// holdPort keeps the port of an address from other processes while its server is down. It
// does nothing if the system cannot hold ports, or the port is in use: the server will
// then report it.
func (s *Server) holdPort(addr string) {
	if release, err := holdPort(addr); err == nil {
		s.releases = append(s.releases, release)
	}
}

func (s *Server) releasePorts() {
	for _, release := range s.releases {
		release()
	}
	s.releases = nil
}

// freeAddr returns an address of 127.0.0.1 whose port is free.
func freeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

func portOf(addr string) string {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "" // freeAddr makes no such address
	}
	return port
}
