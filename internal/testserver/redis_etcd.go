package testserver

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

func redisEngine() *engine {
	return &engine{
		kind:          KindRedis,
		dsnVar:        "SNOWKEY_TEST_REDIS",
		binVar:        "SNOWKEY_TEST_REDIS_BIN",
		packages:      "redis-server",
		programs:      [][]string{{"redis-server"}},
		rewritesTitle: true,
		dsn:           func(addr string) string { return addr },
		port:          "6379",
		schemes:       []string{"redis", "rediss"},
		command: func(s *Server) []string {
			return []string{s.programs[0], "--bind", "127.0.0.1", "--port", portOf(s.Addr), "--dir", s.dir, "--save", "", "--pidfile", s.in("pid"),
				// Every write goes to the kernel before its answer: it survives Kill.
				"--appendonly", "yes", "--appendfsync", "no", "--auto-aof-rewrite-percentage", "0"}
		},
		// While it loads its data, PING is answered by an error.
		ready: func(s *Server) error { return ask(s.Addr, "PING\r\n", "+PONG\r\n") },
	}
}

func etcdEngine() *engine {
	return &engine{
		kind:     KindEtcd,
		dsnVar:   "SNOWKEY_TEST_ETCD",
		binVar:   "SNOWKEY_TEST_ETCD_BIN",
		packages: "etcd-server",
		programs: [][]string{{"etcd"}},
		parallel: true,
		dsn:      func(addr string) string { return "http://" + addr },
		port:     "2379",
		schemes:  []string{"http", "https"},
		command:  etcdCommand,
		// It accepts clients before it has a leader.
		ready: func(s *Server) error { return ask(s.Addr, "GET /health HTTP/1.0\r\n\r\n", `"health":"true"`) },
	}
}

func etcdName(s *Server) string { return s.tag + "-" + filepath.Base(s.dir) }

func etcdCommand(s *Server) []string {
	// The only member has no peers: any free port to listen on will do, and what it advertises is
	// never called. Its election waits for these milliseconds at each start.
	listen, peer := "http://127.0.0.1:0", "http://127.0.0.1:1"
	all, heartbeat, election := []string{etcdName(s) + "=" + peer}, "20", "100"
	if s.member != nil {
		// Members share this machine with the tests, so a leader that is late by some tenths of a
		// second must not be taken for dead.
		listen, peer = "http://"+s.member.peer, "http://"+s.member.peer
		all, heartbeat, election = nil, "100", "1000"
		for _, m := range s.member.of {
			all = append(all, etcdName(m)+"=http://"+m.member.peer)
		}
	}
	return []string{s.programs[0], "--name", etcdName(s), "--data-dir", s.data(),
		"--listen-client-urls", s.DSN, "--advertise-client-urls", s.DSN,
		"--listen-peer-urls", listen, "--initial-advertise-peer-urls", peer,
		"--initial-cluster", strings.Join(all, ","), "--initial-cluster-token", s.tag,
		"--heartbeat-interval", heartbeat, "--election-timeout", election,
		"--unsafe-no-fsync", "--log-level", "error"}
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
