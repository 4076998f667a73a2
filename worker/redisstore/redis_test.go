package redisstore_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// client is a client of Redis with one connection.
type client struct {
	mu   sync.Mutex
	conn net.Conn
	from *bufio.Reader
}

func dial(t *testing.T, server *testserver.Server) *client {
	t.Helper()
	_, address, found := strings.Cut(server.DSN, "@")
	if !found {
		address = strings.TrimPrefix(server.DSN, "redis://")
	}
	address, _, _ = strings.Cut(address, "/")
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &client{conn: conn, from: bufio.NewReader(conn)}
}

// do sends a command and returns its reply.
func (c *client) do(args ...any) (any, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(args))
	for _, a := range args {
		text := fmt.Sprint(a)
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(text), text)
	}
	if _, err := io.WriteString(c.conn, b.String()); err != nil {
		return nil, err
	}
	return c.reply()
}

func (c *client) reply() (any, error) {
	line, err := c.from.ReadString('\n')
	if err != nil {
		return nil, err
	}
	line = strings.TrimRight(line, "\r\n")
	n, _ := strconv.Atoi(line[1:])
	switch {
	case line[0] == '-':
		return nil, errors.New(line[1:])
	case line[0] == '$' && n >= 0:
		text := make([]byte, n+2)
		_, err := io.ReadFull(c.from, text)
		return string(text[:n]), err
	case line[0] == '*' && n >= 0:
		list := make([]any, n)
		for i := range list {
			if list[i], err = c.reply(); err != nil {
				return nil, err
			}
		}
		return list, nil
	case line[0] == '$', line[0] == '*':
		return nil, nil
	}
	return line[1:], nil
}

// must calls do, and fails the test on an error.
func (c *client) must(t *testing.T, args ...any) any {
	t.Helper()
	v, err := c.do(args...)
	if err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return v
}

// eval is a redisstore.EvalFunc.
func (c *client) eval(ctx context.Context, script string, keys []string, args ...any) (any, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	all := []any{"EVAL", script, len(keys)}
	for _, key := range keys {
		all = append(all, key)
	}
	return c.do(append(all, args...)...)
}
