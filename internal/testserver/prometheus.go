package testserver

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

const kindPrometheus Kind = "prometheus"

func prometheusEngine() *engine {
	return &engine{
		kind:     kindPrometheus,
		binVar:   "SNOWKEY_TEST_PROMETHEUS_BIN",
		packages: "prometheus",
		programs: [][]string{{"prometheus"}, {"promtool"}},
		orderly:  syscall.SIGTERM,
		quick:    syscall.SIGKILL,
		dsn:      func(addr string) string { return "http://" + addr },
		command: func(s *Server) []string {
			return []string{s.programs[0], "--config.file=" + filepath.Join(s.dir, "prometheus.yml"), "--storage.tsdb.path=" + s.data(),
				"--web.listen-address=" + s.Addr, "--log.level=warn"}
		},
		ready: func(s *Server) error {
			_, err := ask(s.Addr, []byte("GET /-/ready HTTP/1.0\r\n\r\n"), []byte(" 200 OK\r\n"))
			return err
		},
	}
}

// NewPrometheus starts a Prometheus for this test alone, with the text of its configuration and
// with series, in OpenMetrics' text format with timestamps. Its DSN is its URL.
func NewPrometheus(t testing.TB, config, series string) *Server {
	t.Helper()
	e := prometheusEngine()
	e.setup = func(s *Server) error {
		in := func(name string) string { return filepath.Join(s.dir, name) }
		if err := os.WriteFile(in("prometheus.yml"), []byte(config), 0o644); err != nil {
			return err
		}
		if err := os.WriteFile(in("series"), []byte(series), 0o644); err != nil {
			return err
		}
		return s.run(s.programs[1], "tsdb", "create-blocks-from", "openmetrics", in("series"), in("data"))
	}
	return startFor(t, e)
}

// Promtool returns the path of promtool.
func Promtool(t testing.TB) string {
	t.Helper()
	skipShort(t)
	paths, err := prometheusEngine().find()
	if err != nil {
		skipOrFail(t, fmt.Errorf("promtool: %w", err))
		return ""
	}
	return paths[1]
}
