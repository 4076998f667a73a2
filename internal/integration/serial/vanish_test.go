package serial

import (
	"context"
	"database/sql"
	"fmt"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/serial"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

// fuse is a connection of a machine that is gone after so many messages: the server gets nothing any
// more, not even the end of the connection.
type fuse struct {
	net.Conn
	left *atomic.Int64
}

func (f fuse) Write(b []byte) (int, error) {
	if f.left.Add(-1) < 0 {
		return len(b), nil
	}
	return f.Conn.Write(b)
}

func (f fuse) Close() error { return f.SetDeadline(time.Now()) }

// A client that vanishes after any of its messages stops no other one: Numbers and Segments continue at
// once, and repeat nothing.
func TestClientVanishes(t *testing.T) {
	const atOnce = 5 * time.Second // MySQL would wait for a lock for 50 s
	for i, server := range testserver.MySQLs(t) {
		for _, mode := range []string{"prepared", "autocommit off"} {
			dsn := freshMySQL(t, server.DSN, mode)
			for name, makeNext := range map[string]func(c serial.Counter) func(context.Context) (string, error){
				"Numbers": func(c serial.Counter) func(context.Context) (string, error) {
					return mustNew(serial.NewNumbers(numbering(c, "gone", 1))).Next
				},
				"Segments": func(c serial.Counter) func(context.Context) (string, error) {
					segments := mustNew(serial.NewSegments(serial.SegmentsConfig{Counter: c, Key: "gone", Block: 1}))
					return func(ctx context.Context) (string, error) {
						id, err := segments.Next(ctx)
						return fmt.Sprint(id), err
					}
				},
			} {
				t.Run(fmt.Sprint(i, " ", mode, " ", name), func(t *testing.T) {
					t.Parallel() // it waits, mostly
					alive := makeNext(mustNew(sqlstore.New(open(t, "mysql", dsn), sqlstore.Config{AllowDataLoss: true})))
					seen := map[string]bool{}
					next := func(messages int64) {
						t.Helper()
						ctx, cancel := context.WithTimeout(t.Context(), atOnce)
						defer cancel()
						number, err := alive(ctx)
						if err != nil || seen[number] {
							t.Fatalf("after message %d: %s, %v", messages, number, err)
						}
						seen[number] = true
					}
					next(0)
					messages := int64(1)
					for ended := false; !ended; messages++ {
						left := new(atomic.Int64)
						left.Store(messages)
						gone := makeNext(mustNew(sqlstore.New(vanishing(t, dsn, left), sqlstore.Config{AllowDataLoss: true})))
						ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
						answer := make(chan string, 1)
						go func() {
							if number, err := gone(ctx); err == nil {
								answer <- number
							}
						}()
						select {
						case number := <-answer:
							seen[number], ended = true, true
						case <-ctx.Done(): // or it waits for an answer to COMMIT
						}
						cancel()
						if !ended && left.Load() >= 0 {
							messages-- // the machine is busy
						}
						next(messages)
					}
					t.Logf("a new client sends %d messages", messages-1)
					if messages < 4 {
						t.Error("it proves nothing")
					}
				})
			}
		}
	}
}

// vanishing opens connections through a fuse.
func vanishing(t *testing.T, dsn string, left *atomic.Int64) *sql.DB {
	t.Helper()
	cfg, err := mysql.ParseDSN(dsn)
	must(t, err)
	cfg.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		t.Cleanup(func() { _ = conn.Close() })
		return fuse{conn, left}, nil
	}
	connector, err := mysql.NewConnector(cfg)
	must(t, err)
	db := sql.OpenDB(connector)
	t.Cleanup(func() { _ = db.Close() })
	return db
}
