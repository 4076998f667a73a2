package testserver

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
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

// NewEtcdCluster starts an etcd cluster of n members for this test alone. Each can be killed,
// paused and started by itself; Start needs most members to run, that one among them.
func NewEtcdCluster(t testing.TB, n int) []*Server {
	t.Helper()
	return cluster(t, etcdEngine(), n, 0)
}

// NewGalera starts a Galera cluster of n MariaDB servers for this test alone. Each can be killed,
// paused and started by itself, as long as another one runs that has all the data. Start returns
// when the server accepts clients, which is before it has got all writes of the others: ask it for
// wsrep_ready. Unlike a single one of [MariaDB], they flush each commit as the settings say, so that
// stores accept their durability. A silent server is suspected after two seconds.
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
		if !portInUse(err) && e.parallel || isMissing(err) || try == portTries {
			skipOrFail(t, err)
			return nil
		}
	}
}

// bootCluster starts the members one after the other, or all at once if the first ones need the
// others to be ready.
func bootCluster(e *engine, n, more int) (members []*Server, err error) {
	defer func() {
		if err != nil {
			for _, s := range members {
				err = errors.Join(err, s.remove())
			}
			members = nil
		}
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

// galeraEngine is MariaDB's, for members of a Galera cluster.
func galeraEngine() *engine {
	e := mariadbEngine()
	e.packages = "mariadb-server, which needs galera-4 and rsync"
	e.unprivileged = true // rsync run by root would write as another user, without permission
	e.command = galeraCommand
	e.more = func() ([]string, string) {
		if _, missing := pick(searchPath(), [][]string{{"wsrep_sst_rsync"}, {"rsync"}}); missing != "" {
			return nil, missing
		}
		for _, pattern := range []string{"/usr/lib/galera*", "/usr/lib64/galera*", "/usr/lib/*/galera*"} {
			if found, _ := filepath.Glob(pattern + "/libgalera_smm.so"); len(found) > 0 {
				return found[len(found)-1:], ""
			}
		}
		return nil, "Galera's library libgalera_smm.so not found"
	}
	return e
}

func galeraCommand(s *Server) []string {
	var all []string
	for _, m := range s.member.of {
		all = append(all, m.member.peer)
	}
	transfer, increments := s.member.more[0], s.member.more[1]
	argv := append(mariadbCommand(s),
		"--innodb-flush-log-at-trx-commit=1", // as the stores want it; nothing is flushed all the same
		"--binlog-format=ROW",
		"--innodb-autoinc-lock-mode=2",
		"--wsrep-on=ON",
		"--wsrep-provider="+s.programs[len(s.programs)-1],
		"--wsrep-cluster-name="+s.tag,
		"--wsrep-cluster-address=gcomm://"+strings.Join(all, ","),
		"--wsrep-node-name="+filepath.Base(s.dir),
		"--wsrep-node-address="+s.member.peer,
		"--wsrep-sst-method=rsync",
		"--wsrep-sst-receive-address="+transfer,
		"--wsrep-provider-options="+strings.Join([]string{
			"gmcast.listen_addr=tcp://" + s.member.peer,
			"ist.recv_addr=" + increments, "ist.recv_bind=" + increments,
			"evs.keepalive_period=PT0.5S", "evs.inactive_check_period=PT0.5S",
			"evs.suspect_timeout=PT2S", "evs.inactive_timeout=PT5S", "evs.install_timeout=PT5S",
			"gcache.size=16M", "pc.recovery=false",
		}, ";"),
	)
	if !s.member.joins {
		argv = append(argv, "--wsrep-new-cluster")
	}
	return argv
}
