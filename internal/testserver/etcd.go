package testserver

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
)

func etcdEngine() *engine {
	return &engine{
		kind:     KindEtcd,
		dsnVar:   "SNOWKEY_TEST_ETCD",
		binVar:   "SNOWKEY_TEST_ETCD_BIN",
		packages: "etcd-server",
		programs: [][]string{{"etcd"}},
		orderly:  syscall.SIGTERM,
		quick:    syscall.SIGKILL,
		dsn:      func(addr string) string { return "http://" + addr },
		address: func(dsn string) (string, error) {
			first, _, _ := strings.Cut(dsn, ",")
			return urlAddress(first, "2379", "http", "https")
		},
		command: etcdCommand,
		ready:   etcdReady,
	}
}

// etcdName is unique, so that the list of members identifies the server.
func etcdName(s *Server) string { return s.tag + "-" + filepath.Base(s.dir) }

func etcdCommand(s *Server) []string {
	if s.member != nil {
		return etcdMember(s)
	}
	// The only member has no peers: any free port to listen on will do, and what
	// it advertises is never called.
	const listen, advertise = "http://127.0.0.1:0", "http://127.0.0.1:1"
	return []string{s.programs[0], "--name", etcdName(s), "--data-dir", s.data(),
		"--listen-client-urls", s.DSN, "--advertise-client-urls", s.DSN,
		"--listen-peer-urls", listen, "--initial-advertise-peer-urls", advertise,
		"--initial-cluster", etcdName(s) + "=" + advertise,
		// The election of the only member waits for these milliseconds at each start.
		"--heartbeat-interval", "20", "--election-timeout", "100",
		"--unsafe-no-fsync", "--log-level", "error"}
}

// etcdMember is the command of one of several. They share this machine with the tests,
// so a leader that is late by some tenths of a second must not be taken for dead.
func etcdMember(s *Server) []string {
	all := make([]string, len(s.member.of))
	for i, m := range s.member.of {
		all[i] = etcdName(m) + "=http://" + m.member.peer
	}
	peer := "http://" + s.member.peer
	return []string{s.programs[0], "--name", etcdName(s), "--data-dir", s.data(),
		"--listen-client-urls", s.DSN, "--advertise-client-urls", s.DSN,
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
		"--initial-cluster", strings.Join(all, ","), "--initial-cluster-token", s.tag,
		"--heartbeat-interval", "100", "--election-timeout", "1000",
		"--unsafe-no-fsync", "--log-level", "error"}
}

func etcdReady(s *Server) error {
	client := &http.Client{Timeout: probeLimit, Transport: &http.Transport{DisableKeepAlives: true}}
	for _, q := range []struct {
		path, body string
		want       string
	}{
		{"/health", "", `"health":"true"`}, // it accepts clients before it has a leader
		{"/v3/cluster/member/list", "{}", `"` + etcdName(s) + `"`},
	} {
		if err := etcdAsk(client, s.DSN+q.path, q.body, q.want); err != nil {
			return err
		}
	}
	return nil
}

func etcdAsk(client *http.Client, url, body, want string) error {
	var resp *http.Response
	var err error
	if body == "" {
		resp, err = client.Get(url)
	} else {
		resp, err = client.Post(url, "application/json", strings.NewReader(body))
	}
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if !bytes.Contains(answer, []byte(want)) {
		return fmt.Errorf("answer %.200q to %s holds no %s", answer, url, want)
	}
	return nil
}
