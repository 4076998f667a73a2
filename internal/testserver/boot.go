package testserver

import (
	"context"
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"
)

const (
	setUpLimit = 5 * time.Minute // of a program that makes the data; machines of continuous integration are slow
	startLimit = 3 * time.Minute
	probePause = 5 * time.Millisecond
	logLimit   = 4000 // bytes of a log that an error shows
	portTries  = 5
)

// boot makes the data of a new server, and starts it on the first address of nextAddr that is
// free, with arguments added to its command line.
func boot(e *engine, nextAddr func() (string, error), arguments ...string) (*Server, error) {
	s, err := prepare(e)
	if err != nil {
		return nil, err
	}
	s.arguments = arguments
	for try := 1; ; try++ {
		if s.Addr, err = nextAddr(); err == nil {
			s.DSN = e.dsn(s.Addr)
			s.holdPort(s.Addr)
			if err = s.configure(); err == nil {
				err = s.start()
			}
			if err == nil {
				return s, nil
			}
			s.releasePorts()
		}
		if !portInUse(err) || try == portTries {
			return nil, errors.Join(err, os.RemoveAll(s.dir))
		}
	}
}

// portInUse reports whether another process took the port after freeAddr found it free.
func portInUse(err error) bool {
	return strings.Contains(strings.ToLower(err.Error()), "already in use")
}

// prepare makes the data of a new server.
func prepare(e *engine) (*Server, error) {
	programs, version, err := e.find()
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
	s := &Server{Kind: e.kind, engine: e, programs: programs, version: version, dir: dir, tag: filepath.Base(home)}
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

// configure writes what the start needs, when all addresses are known.
func (s *Server) configure() error {
	if s.engine.configure == nil {
		return nil
	}
	return s.engine.configure(s)
}

// start starts the process and waits until it answers. The caller holds mu, or is the only one
// that knows s.
func (s *Server) start() error {
	// Another server on the port must not be taken for this one. None can take it later: it is held.
	if conn, err := net.DialTimeout("tcp", s.Addr, probeLimit); err == nil {
		return errors.Join(fmt.Errorf("start %s: address already in use", s), conn.Close())
	}
	log, err := os.OpenFile(s.logPath(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close() // the server has its own copy
	info, err := log.Stat()
	if err != nil {
		return err
	}
	s.logged = info.Size()
	cmd := s.program(context.Background(), append(s.engine.command(s), s.arguments...)...)
	if s.engine.rewritesTitle {
		cmd.Args[0] = filepath.Join(s.dir, filepath.Base(cmd.Path))
	}
	// A file, and not the test's own output: `go test` would wait for its end.
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", s.Kind, err)
	}
	exited := make(chan struct{})
	s.cmd, s.exited = cmd, exited
	go func() {
		_ = cmd.Wait() // how it ended is in cmd.ProcessState
		close(exited)
	}()
	if err := s.awaitReady(); err != nil {
		return errors.Join(fmt.Errorf("start %s: %w; end of its log:\n%s", s, err, s.logTail(s.logged)), s.kill())
	}
	return nil
}

func (s *Server) awaitReady() error {
	for deadline := time.Now().Add(startLimit); ; time.Sleep(probePause) {
		err := s.engine.ready(s)
		switch {
		case err == nil:
			return nil
		case !s.running():
			return fmt.Errorf("it ended: %v", s.cmd.ProcessState)
		case time.Now().After(deadline):
			return fmt.Errorf("not ready after %v: %w", startLimit, err)
		}
	}
}

// program returns a command that runs in the server's folder, as its user, with an environment in
// which nothing of the caller can change what it does.
func (s *Server) program(ctx context.Context, argv ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.SysProcAttr = s.dir, attributes(s.engine.unprivileged)
	path := os.Getenv("PATH") + ":/usr/bin:/bin:/usr/sbin:/sbin" // set-up scripts need the usual tools
	cmd.Env = []string{"PATH=" + path, "HOME=" + s.dir, "TMPDIR=" + s.dir, "LC_ALL=C", "TZ=UTC"}
	if v := os.Getenv("LD_LIBRARY_PATH"); v != "" {
		cmd.Env = append(cmd.Env, "LD_LIBRARY_PATH="+v) // programs of a _BIN folder may need it
	}
	if s.Kind == KindEtcd && runtime.GOARCH != "amd64" {
		cmd.Env = append(cmd.Env, "ETCD_UNSUPPORTED_ARCH="+runtime.GOARCH) // etcd 3.4 asks for it on arm64
	}
	return cmd
}

// run runs a program of the set-up to its end.
func (s *Server) run(argv ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), setUpLimit)
	defer cancel()
	cmd := s.program(ctx, argv...)
	cmd.WaitDelay = quickLimit // a child process may keep the output open
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("set up %s: %s: %w; end of its output:\n%s", s.Kind, argv[0], err, tail(out))
	}
	return nil
}

func (s *Server) data() string                  { return s.in("data") }
func (s *Server) snapshot() string              { return s.in("snapshot") }
func (s *Server) logPath() string               { return s.in("log") }
func (s *Server) in(name string) string         { return filepath.Join(s.dir, name) }
func (s *Server) write(name, text string) error { return os.WriteFile(s.in(name), []byte(text), 0o644) }

//go:embed config
var configs embed.FS

// writeConfig writes a file of the folder config, with these values and those of every server in
// place of their names.
func (s *Server) writeConfig(name string, values map[string]string) error {
	text, err := configs.ReadFile("config/" + name)
	values["DIR"] = s.dir
	return errors.Join(err, s.write(name, os.Expand(string(text), func(name string) string { return values[name] })))
}

// logTail returns the end of what the server has logged since byte from.
func (s *Server) logTail(from int64) string {
	b, err := os.ReadFile(s.logPath())
	if err != nil {
		return err.Error()
	}
	return tail(b[min(from, int64(len(b))):])
}

func tail(b []byte) string { return strings.TrimSpace(string(b[max(0, len(b)-logLimit):])) }

// makeData makes the server's data by running a program, or copies what the program made for
// another server. The time of the program is most of what a server costs.
func (s *Server) makeData(argv ...string) error {
	folder := os.Getenv(runVar)
	if folder == "" {
		return s.run(argv...)
	}
	programs := sha256.Sum256([]byte(strings.Join(s.programs, "\n")))
	kept := filepath.Join(folder, fmt.Sprintf("%s-%x", s.Kind, programs[:4]))
	if _, err := os.Stat(kept); err == nil {
		return copyFolder(kept, s.data())
	}
	if err := s.run(argv...); err != nil {
		return err
	}
	// It appears at once, unless another process was faster.
	whole := kept + "-" + filepath.Base(s.dir)
	if err := copyFolder(s.data(), whole); err != nil || os.Rename(whole, kept) == nil {
		return err
	}
	return os.RemoveAll(whole)
}

// copyFolder copies a folder with its owners and permissions.
func copyFolder(from, to string) error {
	if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
		return fmt.Errorf("copy %s: %w: %s", from, err, tail(out))
	}
	return nil
}

// replaceFolder replaces a folder, if it is there, by a copy of another.
func replaceFolder(folder, from string) error {
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	return copyFolder(from, folder)
}

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
	// The watchdog inherits no output: `go test` would wait for it to be closed.
	cmd := exec.Command("/bin/sh", "-c", watchdog, "snowkey-test-watchdog", dir, filepath.Base(dir))
	cmd.Dir, cmd.SysProcAttr = "/", detached()
	if alive, err = cmd.StdinPipe(); err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return "", fmt.Errorf("start watchdog: %w", errors.Join(err, os.RemoveAll(dir)))
	}
	// PostgreSQL's user must get in if root owns the folder.
	return dir, os.Chmod(dir, 0o711)
})

// watchdog removes a home folder, and kills its servers, at the end of its input.
//
//go:embed config/watchdog.sh
var watchdog string

// alive is the watchdog's input, which the kernel closes when this process is gone.
var alive io.Closer //nolint:unused // the garbage collector would close it
