package testserver

import (
	"path/filepath"
	"strings"
)

// galeraEngine is MariaDB's, for members of a Galera cluster.
func galeraEngine() *engine {
	e := mariadbEngine()
	e.packages = "mariadb-server, which needs galera-4 and rsync"
	e.unprivileged = true // rsync run by root would write as another user, without permission
	e.sequential = true
	e.command = galeraCommand
	alone := e.find
	e.lookup = func() ([]string, error) {
		paths, err := alone()
		if err != nil {
			return nil, err
		}
		for _, name := range []string{"wsrep_sst_rsync", "rsync"} {
			if firstExecutable(searchPath(), []string{name}) == "" {
				return nil, &missingError{e, "program " + name + " not found"}
			}
		}
		library := galeraLibrary()
		if library == "" {
			return nil, &missingError{e, "Galera's library libgalera_smm.so not found"}
		}
		return append(paths, library), nil
	}
	return e
}

func galeraLibrary() string {
	for _, pattern := range []string{"/usr/lib/galera*/libgalera_smm.so", "/usr/lib64/galera*/libgalera_smm.so", "/usr/lib/*/galera*/libgalera_smm.so"} {
		if found, err := filepath.Glob(pattern); err == nil && len(found) > 0 {
			return found[len(found)-1]
		}
	}
	return ""
}

func galeraCommand(s *Server) []string {
	all := make([]string, len(s.member.of))
	for i, m := range s.member.of {
		all[i] = m.member.peer
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
