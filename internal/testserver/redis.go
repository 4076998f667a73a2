package testserver

import (
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"syscall"
)

func redisEngine() *engine {
	return &engine{
		kind:          KindRedis,
		dsnVar:        "SNOWKEY_TEST_REDIS",
		binVar:        "SNOWKEY_TEST_REDIS_BIN",
		packages:      "redis-server",
		programs:      [][]string{{"redis-server"}},
		rewritesTitle: true,
		orderly:       syscall.SIGTERM,
		quick:         syscall.SIGKILL,
		dsn:           func(addr string) string { return addr },
		address: func(dsn string) (string, error) {
			if strings.Contains(dsn, "://") {
				return urlAddress(dsn, "6379", "redis", "rediss")
			}
			if _, _, err := net.SplitHostPort(dsn); err != nil {
				return "", fmt.Errorf("%q: want host:6379", dsn)
			}
			return dsn, nil
		},
		command: redisCommand,
		ready: func(s *Server) error {
			// While it loads its data, PING is answered by an error.
			if _, err := ask(s.Addr, []byte("PING\r\n"), []byte("+PONG\r\n")); err != nil {
				return err
			}
			pid := fmt.Sprintf("\r\nprocess_id:%d\r\n", s.cmd.Process.Pid)
			_, err := ask(s.Addr, []byte("INFO server\r\nQUIT\r\n"), []byte(pid))
			return err
		},
	}
}

func redisCommand(s *Server) []string {
	return []string{s.programs[0], "--bind", "127.0.0.1", "--port", portOf(s.Addr), "--dir", s.dir,
		"--save", "",
		// Every write goes to the kernel before its answer: it survives Kill.
		"--appendonly", "yes", "--appendfsync", "no", "--auto-aof-rewrite-percentage", "0",
		"--pidfile", filepath.Join(s.dir, "pid")}
}
