package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/seed-299c1d6b/snowkey/examples/data"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/pgxtype"
)

func call(ctx context.Context, dsn, in string, method pgxtype.Method) (stdout string, err error) {
	var out bytes.Buffer
	err = run(ctx, &out, data.At(in), options{dsn: dsn, method: method, worker: 1})
	return out.String(), err
}

// database is an empty one on the shared server.
func database(t *testing.T, name string) (dsn string) {
	t.Helper()
	server := testserver.Postgres(t)
	conn, err := pgx.Connect(t.Context(), server.DSN)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := conn.Exec(context.Background(), `DROP DATABASE `+name+` WITH (FORCE)`); err != nil {
			t.Error(err)
		}
		_ = conn.Close(context.Background())
	})
	if _, err := conn.Exec(t.Context(), `CREATE DATABASE `+name); err != nil {
		t.Fatal(err)
	}
	return strings.Replace(server.DSN, "/postgres?", "/"+name+"?", 1)
}

func count(t *testing.T, dsn string) (orders, lines int) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	err = conn.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM pgxload_orders), (SELECT count(*) FROM pgxload_lines l JOIN pgxload_orders o ON o.id = l.order_id)`).Scan(&orders, &lines)
	if err != nil {
		t.Fatal(err)
	}
	return orders, lines
}

func TestDefaultFile(t *testing.T) {
	dsn := database(t, "pgxload_default")
	out, err := call(t.Context(), dsn, "", pgxtype.Copy)
	if err != nil || !strings.Contains(out, "360 orders, 1310 rows in one transaction") || !strings.Contains(out, "  SO-10360  2026-") || !strings.Contains(out, "  59.90\n") {
		t.Errorf("%v\n%s", err, out)
	}
	if orders, lines := count(t, dsn); orders != 360 || lines != 950 {
		t.Errorf("%d orders, %d lines", orders, lines)
	}
}

const csvHead = "order,placed_at,customer,email,sku,product,quantity,unit_price\n"

func write(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "in.csv")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// A second run over the same file, and a row that the database refuses: the place
// in the file is named, and nothing is written.
func TestGivenServer(t *testing.T) {
	for name, method := range map[string]pgxtype.Method{"copy": pgxtype.Copy, "unnest": pgxtype.Unnest} {
		t.Run(name, func(t *testing.T) {
			dsn := database(t, "pgxload_"+name)
			var text strings.Builder
			text.WriteString(csvHead)
			for i := range 50 {
				for range 3 {
					fmt.Fprintf(&text, "SO-%d,2026-11-21T08:00:00Z,\"Ada, Countess\",ada@example.com,A,A,1,0.05\n", i)
				}
			}
			in := write(t, text.String())
			if out, err := call(t.Context(), dsn, in, method); err != nil || !strings.Contains(out, "50 orders, 200 rows") {
				t.Fatalf("%v\n%s", err, out)
			}
			for what, bad := range map[string]struct{ text, want string }{
				"again":        {text.String(), `in.csv:2: order "SO-0": `},
				"one is there": {csvHead + fmt.Sprintf(row+row+row, 51, 52, 7), `in.csv:4: order "SO-7": `},
			} {
				_, err := call(t.Context(), dsn, write(t, bad.text), method)
				if err == nil || !strings.Contains(err.Error(), bad.want) || !strings.Contains(err.Error(), "nothing was written") {
					t.Errorf("%s: %v", what, err)
				}
			}
			if orders, lines := count(t, dsn); orders != 50 || lines != 150 {
				t.Errorf("%d orders, %d lines", orders, lines)
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := call(ctx, dsn, in, method); !errors.Is(err, context.Canceled) {
				t.Errorf("interrupted: %v", err)
			}
		})
	}
}

const row = "SO-%d,2026-11-21T08:00:00Z,Ada,ada@example.com,A,A,1,0.05\n"

// heldAtCommit is a proxy that keeps back the answers to COMMIT and what follows.
func heldAtCommit(t *testing.T, server string, committed func()) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	open, over := map[net.Conn]bool{}, false
	t.Cleanup(func() {
		_ = l.Close()
		mu.Lock()
		over = true
		for conn := range open {
			_ = conn.Close()
		}
		mu.Unlock()
		wg.Wait()
	})
	var held atomic.Bool
	pass := func(from, to net.Conn, answers bool) {
		defer from.Close()
		defer to.Close()
		buf := make([]byte, 32<<10)
		for {
			n, err := from.Read(buf)
			if !answers && bytes.Contains(buf[:n], []byte("commit")) {
				held.Store(true)
			}
			if answers && held.Load() {
				committed()
				return
			}
			if _, werr := to.Write(buf[:n]); err != nil || werr != nil {
				return
			}
		}
	}
	wg.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			db, err := net.Dial("tcp", server)
			if err != nil {
				_ = client.Close()
				continue
			}
			mu.Lock()
			open[client], open[db] = true, true
			if over {
				_, _ = client.Close(), db.Close()
			}
			mu.Unlock()
			wg.Go(func() { pass(client, db, false) })
			wg.Go(func() { pass(db, client, true) })
		}
	})
	return l.Addr().String()
}

// An interrupt while COMMIT is under way, and a database that cannot be asked: it
// is not said that nothing was written, because everything was.
func TestInterruptedAtCommit(t *testing.T) {
	dsn := database(t, "pgxload_interrupted")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	addr := testserver.Postgres(t).Addr
	_, err := call(ctx, strings.Replace(dsn, addr, heldAtCommit(t, addr, cancel), 1), "", pgxtype.Copy)
	if err == nil || strings.Contains(err.Error(), "nothing was written") || !strings.Contains(err.Error(), "may have been written, or nothing: look in pgxload_orders for id ") {
		t.Errorf("%v", err)
	}
	if orders, lines := count(t, dsn); orders != 360 || lines != 950 {
		t.Errorf("%d orders, %d lines", orders, lines)
	}
}

// A file that is another when it is read for the second time.
func TestFileChanges(t *testing.T) {
	dsn := database(t, "pgxload_changes")
	pool, err := connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	short := csvHead + fmt.Sprintf(row+row, 1, 2)
	long := short + fmt.Sprintf(row, 3)
	for _, c := range []struct{ counted, read, want string }{
		{long, short, "in.csv: the file has shrunk since it was counted: 2 rows are missing"},
		{short, long, "in.csv:4: the file has grown"},
		{long, csvHead, "in.csv: no orders"},
	} {
		t.Run(c.want, func(t *testing.T) {
			file := data.File{Name: "in.csv", Open: func() (io.ReadCloser, error) {
				return io.NopCloser(strings.NewReader(c.read)), nil
			}}
			ids := make([]int64, 2*strings.Count(c.counted, "SO-"))
			for i := range ids {
				ids[i] = int64(i + 1)
			}
			if _, err := load(t.Context(), pool, file, ids, pgxtype.Copy); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if orders, lines := count(t, dsn); orders != 0 || lines != 0 {
				t.Errorf("%d orders, %d lines", orders, lines)
			}
		})
	}
}

// A bad file is refused before the database is touched, and no error shows a password.
func TestBadInput(t *testing.T) {
	const none = "postgres://u:secret@127.0.0.1:1/x?connect_timeout=2"
	for _, c := range []struct {
		name, dsn, in string
		worker        int64
		want          string
	}{
		{"empty", none, write(t, ""), 1, "in.csv: empty"},
		{"last row", none, write(t, csvHead+fmt.Sprintf(row, 1)+"SO-1,x\n"), 1, "in.csv:3: wrong number of fields"},
		{"no file", none, "/no/such/file.csv", 1, "/no/such/file.csv: no such file"},
		{"no server", none, "", 1, "-dsn: "},
		{"no DSN", "postgres://u:secret@127.0.0.1:port/x", "", 1, "-dsn: "},
		{"worker", none, "", 1024, "-worker 1024: core: Worker 1024"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := run(t.Context(), io.Discard, data.At(c.in), options{dsn: c.dsn, worker: c.worker})
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}
