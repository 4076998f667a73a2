package testserver

import (
	"errors"
	"os"
	"path/filepath"
)

// Snapshot copies the data of the server to a folder beside it, as a snapshot of its volume would. A
// running server is paused meanwhile, so that the copy is what a crash leaves.
func (s *Server) Snapshot(name string) error {
	if err := s.Pause(); err != nil {
		return err
	}
	return errors.Join(copyFolder(s.data(), s.in(name)), s.Resume())
}

// PutBack replaces the data of the server, which does not run, by a copy of a snapshot.
func (s *Server) PutBack(name string) error {
	return s.control("PutBack", false, func() error {
		err := os.RemoveAll(s.data())
		if err == nil {
			err = copyFolder(s.in(name), s.data())
		}
		_ = os.Remove(filepath.Join(s.data(), "postmaster.pid")) // PostgreSQL's
		return err
	})
}

// MakeFolder makes a folder beside the server's data, which the server may write to.
func (s *Server) MakeFolder(name string) error {
	return errors.Join(os.Mkdir(s.in(name), 0o700), giveToUser(s.in(name)))
}

// Touch makes an empty file, such as "data/recovery.signal".
func (s *Server) Touch(name string) error {
	return errors.Join(s.write(name, ""), giveToUser(s.in(name)))
}

// Program returns the path of a program that is beside the server's own.
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

// RestoreEtcd replaces the data of an etcd, which does not run, by what etcdctl makes of a snapshot.
func (s *Server) RestoreEtcd(snapshot string) error {
	return s.control("RestoreEtcd", false, func() error {
		etcdctl := firstExecutable(searchPath(), []string{"etcdctl", "etcdutl"})
		if etcdctl == "" {
			return errors.New("program etcdctl not found; install the Debian package etcd-client")
		}
		peer := "http://127.0.0.1:1"
		return errors.Join(os.RemoveAll(s.data()), s.run(etcdctl, "snapshot", "restore", snapshot,
			"--name", etcdName(s), "--data-dir", s.data(), "--initial-cluster", etcdName(s)+"="+peer,
			"--initial-advertise-peer-urls", peer, "--initial-cluster-token", s.tag))
	})
}
