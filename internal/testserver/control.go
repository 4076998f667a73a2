package testserver

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

const (
	stopLimit  = 3 * time.Minute // of an orderly end
	quickLimit = time.Minute     // of the work of the kernel, which waits for disks
)

// Start starts a server that was stopped or killed, on the same data and address, and waits until
// it answers.
func (s *Server) Start() error { return s.control("Start", false, s.start) }

// Stop ends the server in an orderly way and waits for its end. Clients are disconnected. A paused
// server is resumed for it.
func (s *Server) Stop() error { return s.control("Stop", true, s.stop) }

// Kill ends the server as a crash does: all its processes get SIGKILL. It returns when they are
// gone.
func (s *Server) Kill() error { return s.control("Kill", true, s.kill) }

// Restart is Stop and Start.
func (s *Server) Restart() error {
	return s.control("Restart", true, func() (err error) {
		if err = s.stop(); err == nil {
			err = s.start()
		}
		return err
	})
}

// Pause suspends all processes of the server. Its connections stay open, the kernel still accepts
// new ones, and nothing answers: to clients it looks like a server behind a network that drops all
// packets.
func (s *Server) Pause() error {
	return s.control("Pause", true, func() error { return freeze(s.family) })
}

// Resume resumes a paused server. On a running one it does nothing.
func (s *Server) Resume() error {
	return s.control("Resume", true, func() error { return thaw(s.family) })
}

// control runs f alone, if the server is ours and runs or not as f needs it.
func (s *Server) control(verb string, running bool, f func() error) error {
	if s.external {
		return fmt.Errorf("%s %s: the server is given by %s, and only private servers can be controlled",
			verb, s, s.engine.dsnVar)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := s.running(); now != running {
		return fmt.Errorf("%s %s: %s", verb, s, map[bool]string{true: "it runs already", false: "it does not run"}[now])
	}
	if err := f(); err != nil {
		return fmt.Errorf("%s %s: %w", verb, s, err)
	}
	return nil
}

func (s *Server) running() bool {
	if s.cmd == nil {
		return false
	}
	select {
	case <-s.exited:
		return false
	default:
		return true
	}
}

func (s *Server) awaitExit(limit time.Duration) bool {
	select {
	case <-s.exited:
		return true
	case <-time.After(limit):
		return false
	}
}

// family returns the server's processes: the one that was started, what works on its data, and
// their descendants. PostgreSQL's backends have their own sessions, so a signal to the process
// group would miss them; a killed Patroni leaves PostgreSQL behind.
func (s *Server) family() ([]process, error) {
	pid := 0
	if s.running() {
		pid = s.cmd.Process.Pid
	}
	return family(pid, s.data())
}

// kill kills the server's processes, if there are any, and waits for their end.
func (s *Server) kill() error {
	_, err := killAll(s.family)
	if err == nil && s.cmd != nil && !s.awaitExit(quickLimit) {
		err = fmt.Errorf("process %d is there %v after SIGKILL", s.cmd.Process.Pid, quickLimit)
	}
	return err
}

func (s *Server) stop() error { return s.end(cmp.Or(s.engine.orderly, syscall.SIGTERM), stopLimit) }

// end sends sig to the server and waits for its end.
func (s *Server) end(sig syscall.Signal, limit time.Duration) error {
	// A stopped process gets the signal only when it is resumed.
	if err := errors.Join(s.cmd.Process.Signal(sig), thaw(s.family)); err != nil && s.running() {
		return err
	}
	if !s.awaitExit(limit) {
		return fmt.Errorf("process %d is there %v after signal %v; end of its log:\n%s",
			s.cmd.Process.Pid, limit, sig, s.logTail(0))
	}
	return nil
}

// Remove ends the server, in whatever state it is, and deletes its data. A test need not call it.
func (s *Server) Remove() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running() {
		_ = s.end(cmp.Or(s.engine.quick, syscall.SIGKILL), quickLimit) // else it is killed
	}
	if err := s.kill(); err != nil {
		return err
	}
	s.releasePorts()
	freeSharedMemory(s.dir)
	return os.RemoveAll(s.dir)
}

// Snapshot keeps a copy of the server's data instead of the last one, as a snapshot of its volume would. The
// server is paused meanwhile, so that the copy is what a crash leaves.
func (s *Server) Snapshot() error {
	if err := s.Pause(); err != nil {
		return err
	}
	return errors.Join(replaceFolder(s.snapshot(), s.data()), s.Resume())
}

// PutBack replaces the data of the server, which does not run, by a copy of the snapshot.
func (s *Server) PutBack() error {
	return s.control("PutBack", false, func() error {
		err := replaceFolder(s.data(), s.snapshot())
		_ = os.Remove(filepath.Join(s.data(), "postmaster.pid")) // PostgreSQL's
		return err
	})
}

// MakeFolder makes a folder next to the server's data, which the server may write to.
func (s *Server) MakeFolder(name string) error {
	return errors.Join(os.Mkdir(s.in(name), 0o700), giveToUser(s.in(name)))
}

// Touch makes an empty file, such as "data/recovery.signal".
func (s *Server) Touch(name string) error {
	return errors.Join(s.write(name, ""), giveToUser(s.in(name)))
}

// Program returns the path of a program that is next to the server's own.
func (s *Server) Program(name string) string {
	path := s.programs[0]
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return filepath.Join(filepath.Dir(path), name)
}

// Immediately ends the server as pg_ctl stop -m immediate does: without a checkpoint.
func (s *Server) Immediately() error {
	return s.control("Immediately", true, func() error { return s.end(s.engine.quick, stopLimit) })
}
