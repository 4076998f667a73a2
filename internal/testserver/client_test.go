//go:build unix

package testserver

import (
	"context"
	"database/sql"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
	_ "gorm.io/driver/mysql"
)

// Each call opens a connection of its own, and must end within limit.

func put(s *Server, limit time.Duration, value string) error {
	_, err := call(s, limit, map[Kind]string{
		KindPostgres: "CREATE TABLE kept AS SELECT '" + value + "' AS v",
		KindMariaDB:  "CREATE TABLE kept AS SELECT '" + value + "' AS v",
		KindRedis:    "SET kept " + value,
		KindEtcd:     `put {"key":"` + base64.StdEncoding.EncodeToString([]byte("kept")) + `","value":"` + base64.StdEncoding.EncodeToString([]byte(value)) + `"}`,
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
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	switch s.Kind {
	case KindEtcd:
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
	case KindRedis:
		conn, err := net.DialTimeout("tcp", s.Addr, limit)
		if err != nil {
			return "", err
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(limit))
		if _, err := io.WriteString(conn, text+"\r\nQUIT\r\n"); err != nil {
			return "", err
		}
		answer, err := io.ReadAll(conn)
		if err == nil && (len(answer) == 0 || answer[0] == '-') {
			err = fmt.Errorf("answer %q", answer)
		}
		return string(answer), err
	}
	db, err := sql.Open(map[Kind]string{KindPostgres: "pgx", KindMariaDB: "mysql"}[s.Kind], s.DSN)
	if err != nil {
		return "", err
	}
	defer db.Close()
	var answer string
	if err = db.QueryRowContext(ctx, text).Scan(&answer); err == sql.ErrNoRows {
		err = nil // as of a CREATE
	}
	return answer, err
}

// connect makes a connection to a PostgreSQL or a PgBouncer.
func connect(t *testing.T, dsn string) *sql.Conn {
	t.Helper()
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(); _ = db.Close() })
	return conn
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
