package testserver

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// ask sends bytes to a server and returns its answer as soon as that holds want.
func ask(addr string, send, want []byte) (answer []byte, err error) {
	conn, err := net.DialTimeout("tcp", addr, probeLimit)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(probeLimit)); err != nil {
		return nil, err
	}
	if _, err := conn.Write(send); err != nil {
		return nil, err
	}
	buf := make([]byte, 4096)
	for !bytes.Contains(answer, want) {
		n, err := conn.Read(buf)
		answer = append(answer, buf[:n]...)
		if err != nil && !bytes.Contains(answer, want) {
			return nil, fmt.Errorf("answer %.200q: %w", answer, err)
		}
	}
	return answer, nil
}

// first returns what the first group of a pattern matches in an answer.
func first(pattern *regexp.Regexp, answer []byte) (string, error) {
	m := pattern.FindSubmatch(answer)
	if m == nil {
		return "", fmt.Errorf("no version in the answer %.200q", answer)
	}
	return string(m[1]), nil
}

// checkVersion fails if the server has another version than the environment asks for: the
// test would then not cover that version.
func (s *Server) checkVersion() error {
	want := os.Getenv(s.engine.versionVar)
	if want == "" {
		return nil
	}
	got, err := s.engine.version(s.Addr)
	if err == nil && got != want {
		err = fmt.Errorf("its version is %q, and %s=%q", got, s.engine.versionVar, want)
	}
	s.version = got
	return err
}

// logVersion logs the server's version to the test's output, if a version was asked for.
func (s *Server) logVersion(t testing.TB) {
	t.Helper()
	if s.version != "" {
		t.Logf("%s has version %s", s, s.version)
	}
}

// ownPidFile returns the lines of the file in which our process has written its
// number, and an error if there is none or it is not of this start.
func (s *Server) ownPidFile(path string) ([]string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	lines := strings.Split(string(b), "\n")
	if got, want := strings.TrimSpace(lines[0]), strconv.Itoa(s.cmd.Process.Pid); got != want {
		return nil, fmt.Errorf("%s is of process %q, not of %s", path, got, want)
	}
	return lines, nil
}
