package testserver

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
)

// member is the part of a server that belongs to a cluster.
type member struct {
	of    []*Server // all members
	peer  string    // where the others reach this one
	more  []string  // further addresses of its own, as many as the engine needs
	joins bool      // there is a cluster already
}

// NewEtcdCluster starts an etcd cluster of n members for this test alone. Each can be
// killed, paused and started by itself; Start needs most members to run, that one among
// them.
func NewEtcdCluster(t testing.TB, n int) []*Server {
	t.Helper()
	return cluster(t, etcdEngine(), n, 0)
}

// NewGalera starts a Galera cluster of n MariaDB servers for this test alone. Each can
// be killed, paused and started by itself, as long as another one runs that has all the
// data. Start returns when the server accepts clients, which is before it has got all
// writes of the others: ask it for wsrep_ready. Unlike a single one of [MariaDB], they
// flush each commit as the settings say, so that stores accept their durability. A
// silent server is suspected after two seconds.
func NewGalera(t testing.TB, n int) []*Server {
	t.Helper()
	return cluster(t, galeraEngine(), n, 2)
}

func cluster(t testing.TB, e *engine, n, more int) []*Server {
	t.Helper()
	skipShort(t)
	for try := 1; ; try++ {
		members, err := bootCluster(e, n, more)
		if err == nil {
			for _, s := range slices.Backward(members) { // cleanups run in reverse
				s.removeAfter(t)
			}
			return members
		}
		// Galera's scripts do not report that a port is in use.
		if !portInUse(err) && !e.sequential || isMissing(err) || try == portTries {
			skipOrFail(t, err)
			return nil
		}
	}
}

// bootCluster starts the members one after the other, or all at once if the first ones need
// the others to be ready.
func bootCluster(e *engine, n, more int) (members []*Server, err error) {
	defer func() {
		if err == nil {
			return
		}
		for _, s := range members {
			if s.running() {
				err = errors.Join(err, s.kill())
			}
			s.releasePorts()
			err = errors.Join(err, os.RemoveAll(s.dir))
		}
		members = nil
	}()
	for range n {
		s, err := prepare(e)
		if err != nil {
			return members, err
		}
		members = append(members, s)
		if err := s.join(more); err != nil {
			return members, err
		}
	}
	for _, s := range members {
		s.member.of = members
	}
	if e.configure != nil {
		for _, s := range members {
			if err := e.configure(s); err != nil {
				return members, err
			}
		}
	}
	if e.sequential {
		for _, s := range members {
			if err := s.start(); err != nil {
				return members, err
			}
			for _, m := range members {
				m.member.joins = true
			}
		}
		return members, nil
	}
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i, s := range members {
		wg.Go(func() { errs[i] = s.start() })
	}
	wg.Wait()
	return members, errors.Join(errs...)
}

// join gives a server its addresses.
func (s *Server) join(more int) error {
	addrs := make([]string, 2+more)
	for i := range addrs {
		var err error
		if addrs[i], err = freeAddr(); err != nil {
			return fmt.Errorf("address of %s: %w", s.Kind, err)
		}
		if i < 2 { // scripts check that the others are free
			s.holdPort(addrs[i])
		}
	}
	s.Addr, s.DSN = addrs[0], s.engine.dsn(addrs[0])
	s.member = &member{peer: addrs[1], more: addrs[2:]}
	return nil
}
