package testserver

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
)

// member is the part of a server that belongs to a cluster.
type member struct {
	of    []*Server // all members
	peer  string    // where the others reach this one
	joins bool      // there is a cluster already
}

// NewEtcdCluster starts an etcd cluster of n members for this test alone. Each can be killed,
// paused and started by itself; Start needs most members to run, that one among them.
func NewEtcdCluster(t testing.TB, n int) []*Server {
	t.Helper()
	return cluster(t, etcdEngine(), n)
}

// NewGalera starts a Galera cluster of n MariaDB servers for this test alone. Each can be killed,
// paused and started by itself, as long as another one runs that has all the data. Start returns
// when the server accepts clients, which is before it has got all writes of the others: ask it for
// wsrep_ready. Unlike a single one of [MariaDB], they flush each commit as the settings say, so that
// stores accept their durability. A silent server is suspected after two seconds.
func NewGalera(t testing.TB, n int) []*Server {
	t.Helper()
	return cluster(t, galeraEngine(), n)
}

func cluster(t testing.TB, e *engine, n int) []*Server {
	t.Helper()
	skipShort(t)
	for try := 1; ; try++ {
		members, err := bootCluster(e, n)
		if err == nil {
			for _, s := range slices.Backward(members) { // cleanups run in reverse
				s.removeAfter(t)
			}
			return members
		}
		// Galera's scripts do not report that a port is in use.
		if !portInUse(err) && e.parallel || errors.Is(err, errMissing) || try == portTries {
			skipOrFail(t, err)
			return nil
		}
	}
}

// bootCluster starts the members one after the other, or all at once if the first ones need the
// others to be ready.
func bootCluster(e *engine, n int) (members []*Server, err error) {
	defer func() {
		if err != nil {
			for _, s := range members {
				err = errors.Join(err, s.Remove())
			}
		}
	}()
	for range n {
		s, err := prepare(e)
		if err != nil {
			return members, err
		}
		members = append(members, s)
		addr, addrErr := freeAddr()
		peer, peerErr := freeAddr()
		if err := errors.Join(addrErr, peerErr); err != nil {
			return members, fmt.Errorf("address of %s: %w", s.Kind, err)
		}
		s.Addr, s.DSN, s.member = addr, e.dsn(addr), &member{peer: peer}
		s.holdPort(addr)
		s.holdPort(peer)
	}
	for _, s := range members {
		s.member.of = members
	}
	for _, s := range members {
		if err := s.configure(); err != nil {
			return members, err
		}
	}
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i, s := range members {
		wg.Go(func() { errs[i] = s.start() })
		if e.parallel {
			continue
		}
		if wg.Wait(); errs[i] != nil {
			break
		}
		for _, m := range members {
			m.member.joins = true
		}
	}
	wg.Wait()
	return members, errors.Join(errs...)
}

func addresses(members []*Server) (all []string) {
	for _, m := range members {
		all = append(all, m.Addr)
	}
	return all
}
