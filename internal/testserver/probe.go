package testserver

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// ask sends bytes to a server and reads until the answer holds want.
func ask(addr string, send, want []byte) error {
	conn, err := net.DialTimeout("tcp", addr, probeLimit)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(probeLimit)); err != nil {
		return err
	}
	if _, err := conn.Write(send); err != nil {
		return err
	}
	var answer []byte
	buf := make([]byte, 4096)
	for !bytes.Contains(answer, want) {
		n, err := conn.Read(buf)
		answer = append(answer, buf[:n]...)
		if err != nil && !bytes.Contains(answer, want) {
			return fmt.Errorf("answer %.200q: %w", answer, err)
		}
	}
	return nil
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
