package testserver

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

const probeLimit = 10 * time.Second // of one question to a server

// ask sends a text to a server and returns when its answer holds want.
func ask(addr, send, want string) error {
	conn, err := net.DialTimeout("tcp", addr, probeLimit)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(probeLimit)); err != nil {
		return err
	}
	if _, err := io.WriteString(conn, send); err != nil {
		return err
	}
	var answer []byte
	for buf := make([]byte, 4096); !bytes.Contains(answer, []byte(want)); {
		n, err := conn.Read(buf)
		answer = append(answer, buf[:n]...)
		if err != nil && !bytes.Contains(answer, []byte(want)) {
			return fmt.Errorf("answer %.200q: %w", answer, err)
		}
	}
	return nil
}

func askHTTP(url string, limit time.Duration) (status int, answer []byte, err error) {
	client := &http.Client{Timeout: limit, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get(url)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	answer, err = io.ReadAll(resp.Body)
	return resp.StatusCode, answer, err
}
