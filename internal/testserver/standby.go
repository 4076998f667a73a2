package testserver

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// NewStandby starts, for this test alone, a hot standby of a private PostgreSQL server,
// named "standby". It is asynchronous unless the primary's synchronous_standby_names has
// that name. pg_promote() makes it a primary. It gets the primary's arguments. The primary
// is paused while it is copied.
func NewStandby(t testing.TB, primary *Server) *Server {
	t.Helper()
	e := postgresEngine()
	e.lookup = func() ([]string, error) { return primary.programs, nil } // whose version it must be
	e.setup = func(s *Server) error { return copyOf(primary, s) }
	return startFor(t, e, append(slices.Clone(primary.arguments),
		"-c", "primary_conninfo="+primary.DSN+"&application_name=standby")...)
}

// copyOf gives a standby the data of its primary. While nothing writes to the folder, a copy
// of it is what a crash leaves: the standby recovers from it, then follows. pg_basebackup
// needs no pause, but not every installation has it.
func copyOf(primary, standby *Server) error {
	if err := primary.Pause(); err != nil {
		return err
	}
	data := standby.data()
	err := standby.run("cp", "-R", "-p", primary.data(), data)
	if err := errors.Join(err, primary.Resume()); err != nil {
		return err
	}
	signal := filepath.Join(data, "standby.signal")
	if err := errors.Join(os.Remove(filepath.Join(data, "postmaster.pid")), os.WriteFile(signal, nil, 0o600)); err != nil {
		return err
	}
	return giveToUser(signal)
}
