//go:build unix

package testserver

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// Minimal clients that write one value and read it back. Each call opens a connection of its
// own, and must end within limit.

func put(s *Server, limit time.Duration, value string) error {
	_, err := call(s, limit, map[Kind]string{
		KindPostgres: "CREATE TABLE IF NOT EXISTS kept (v text); INSERT INTO kept VALUES ('" + value + "')",
		KindMariaDB:  "CREATE TABLE kept AS SELECT '" + value + "' AS v",
		KindRedis:    "SET kept " + value,
		KindEtcd: `put {"key":"` + base64.StdEncoding.EncodeToString([]byte("kept")) +
			`","value":"` + base64.StdEncoding.EncodeToString([]byte(value)) + `"}`,
	}[s.Kind])
	return err
}

func get(s *Server, limit time.Duration, want string) error {
	answer, err := call(s, limit, map[Kind]string{
		KindPostgres: "SELECT v FROM kept",
		KindMariaDB:  "SELECT v FROM kept",
		KindRedis:    "GET kept",
		KindEtcd:     `range {"key":"` + base64.StdEncoding.EncodeToString([]byte("kept")) + `"}`,
	}[s.Kind])
	if s.Kind == KindEtcd {
		want = base64.StdEncoding.EncodeToString([]byte(want))
	}
	if err == nil && !strings.Contains(answer, want) {
		err = fmt.Errorf("answer %.300q holds no %q", answer, want)
	}
	return err
}

func call(s *Server, limit time.Duration, text string) (string, error) {
	if s.Kind == KindEtcd {
		verb, body, _ := strings.Cut(text, " ")
		client := &http.Client{Timeout: limit, Transport: &http.Transport{DisableKeepAlives: true}}
		resp, err := client.Post(s.DSN+"/v3/kv/"+verb, "application/json", strings.NewReader(body))
		if err != nil {
			return "", err
		}
		defer resp.Body.Close()
		answer, err := io.ReadAll(resp.Body)
		if err == nil && resp.StatusCode != http.StatusOK {
			err = fmt.Errorf("%s: %s", resp.Status, answer)
		}
		return string(answer), err
	}
	conn, err := net.DialTimeout("tcp", s.Addr, limit)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(limit)); err != nil {
		return "", err
	}
	switch s.Kind {
	case KindPostgres:
		if err := postgresLogin(conn); err != nil {
			return "", err
		}
		return postgresQuery(conn, text)
	case KindMariaDB:
		return mysqlQuery(conn, text)
	}
	if _, err := io.WriteString(conn, text+"\r\nQUIT\r\n"); err != nil {
		return "", err
	}
	answer, err := io.ReadAll(conn)
	if err == nil && (len(answer) == 0 || answer[0] == '-') {
		err = fmt.Errorf("answer %q", answer)
	}
	return string(answer), err
}

func postgresLogin(conn net.Conn) error {
	body := "\x00\x03\x00\x00user\x00postgres\x00database\x00postgres\x00\x00"
	if _, err := conn.Write(append([]byte{0, 0, 0, byte(len(body) + 4)}, body...)); err != nil {
		return err
	}
	_, err := postgresAnswer(conn)
	return err
}

func postgresQuery(conn net.Conn, sql string) (string, error) {
	if err := postgresSend(conn, sql); err != nil {
		return "", err
	}
	return postgresAnswer(conn)
}

func postgresSend(conn net.Conn, sql string) error {
	packet := append([]byte{'Q', 0, 0, 0, byte(len(sql) + 5)}, sql...)
	_, err := conn.Write(append(packet, 0))
	return err
}

// postgresAnswer reads messages until the server is ready for a query.
func postgresAnswer(conn net.Conn) (string, error) {
	var answer []byte
	for {
		head := make([]byte, 5)
		if _, err := io.ReadFull(conn, head); err != nil {
			return "", fmt.Errorf("after %q: %w", answer, err)
		}
		body := make([]byte, binary.BigEndian.Uint32(head[1:])-4)
		if _, err := io.ReadFull(conn, body); err != nil {
			return "", err
		}
		switch head[0] {
		case 'E':
			return "", fmt.Errorf("%q", body)
		case 'Z':
			return string(answer), nil
		}
		answer = append(answer, body...)
	}
}

// mysqlQuery logs in to the database of the DSN, as root without password.
func mysqlQuery(conn net.Conn, sql string) (string, error) {
	r := bufio.NewReader(conn)
	greeting, err := mysqlPacket(r)
	if err != nil {
		return "", err
	}
	// It ends with the password plug-in; each of them accepts an empty password.
	plugin := greeting[bytes.LastIndexByte(greeting[:len(greeting)-1], 0)+1:]
	// Long password, database at connect, protocol 4.1, secure connection, plug-in.
	login := binary.LittleEndian.AppendUint32(nil, 1|8|0x200|0x8000|0x80000)
	login = append(login, 0, 0, 0, 1, 45)
	login = append(login, make([]byte, 23)...)
	login = append(login, "root\x00\x00"+mariadbDatabase+"\x00"...)
	login = append(login, plugin...)
	if err := mysqlSend(conn, 1, login); err != nil {
		return "", err
	}
	if _, err := mysqlPacket(r); err != nil {
		return "", err
	}
	if err := mysqlSend(conn, 0, append([]byte{3}, sql...)); err != nil {
		return "", err
	}
	first, err := mysqlPacket(r)
	if err != nil || first[0] == 0 {
		return "", err // OK, without a result set
	}
	var answer []byte
	for ends := 0; ends < 2; { // after the columns, and after the rows
		p, err := mysqlPacket(r)
		if err != nil {
			return "", err
		}
		if p[0] == 0xfe && len(p) < 9 {
			ends++
		}
		answer = append(answer, p...)
	}
	return string(answer), nil
}

func mysqlSend(w io.Writer, seq byte, body []byte) error {
	_, err := w.Write(append([]byte{byte(len(body)), byte(len(body) >> 8), 0, seq}, body...))
	return err
}

func mysqlPacket(r io.Reader) ([]byte, error) {
	head := make([]byte, 4)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, err
	}
	body := make([]byte, int(head[0])|int(head[1])<<8|int(head[2])<<16)
	if _, err := io.ReadFull(r, body); err != nil {
		return nil, err
	}
	if len(body) == 0 || body[0] == 0xff {
		return nil, fmt.Errorf("%q", body)
	}
	return bytes.Clone(body), nil
}

// starters are the constructors of the private servers.
func starters() map[Kind]func(testing.TB) *Server {
	return map[Kind]func(testing.TB) *Server{
		KindPostgres: NewPostgres, KindMariaDB: NewMariaDB, KindRedis: NewRedis, KindEtcd: NewEtcd,
	}
}

// eventually polls until f returns nil.
func eventually(t testing.TB, limit time.Duration, f func() error) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	deadline := time.Now().Add(limit)
	err := f()
	for ; err != nil && time.Now().Before(deadline); err = f() {
		<-tick.C
	}
	if err != nil {
		t.Fatalf("after %v: %v", limit, err)
	}
}
