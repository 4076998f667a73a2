package testserver

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
)

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
		ready: func(s *Server) error {
			// It accepts clients before it has a leader.
			_, answer, err := askHTTP(s.DSN+"/health", probeLimit)
			if err == nil && !bytes.Contains(answer, []byte(`"health":"true"`)) {
				err = fmt.Errorf("answer %.200q", answer)
			}
			return err
		},
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
