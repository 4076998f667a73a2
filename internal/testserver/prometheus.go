package testserver

import (
	"errors"
	"fmt"
	"testing"
)

func prometheusEngine() *engine {
	return &engine{
		kind:     "prometheus",
		binVar:   "SNOWKEY_TEST_PROMETHEUS_BIN",
		packages: "prometheus",
		programs: [][]string{{"prometheus"}, {"promtool"}},
		dsn:      func(addr string) string { return "http://" + addr },
		command: func(s *Server) []string {
			return []string{s.programs[0], "--config.file=" + s.in("prometheus.yml"), "--storage.tsdb.path=" + s.data(),
				"--web.listen-address=" + s.Addr, "--log.level=warn"}
		},
		ready: func(s *Server) error { return ask(s.Addr, "GET /-/ready HTTP/1.0\r\n\r\n", " 200 OK\r\n") },
	}
}

// NewPrometheus starts a Prometheus for this test alone, with the text of its configuration and
// with series, in OpenMetrics' text format with timestamps. Its DSN is its URL.
func NewPrometheus(t testing.TB, config, series string) *Server {
	t.Helper()
	e := prometheusEngine()
	e.setup = func(s *Server) error {
		if err := errors.Join(s.write("prometheus.yml", config), s.write("series", series)); err != nil {
			return err
		}
		return s.run(s.programs[1], "tsdb", "create-blocks-from", "openmetrics", s.in("series"), s.data())
	}
	return startFor(t, e)
}

// Promtool returns the path of promtool.
func Promtool(t testing.TB) string {
	t.Helper()
	skipShort(t)
	paths, _, err := prometheusEngine().find()
	if err != nil {
		skipOrFail(t, fmt.Errorf("promtool: %w", err))
		return ""
	}
	return paths[1]
}
