package main

import (
	"bytes"
	"context"
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

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/pgxtype"
)

func call(ctx context.Context, args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = cli(ctx, args, &out, &err)
	return code, out.String(), err.String()
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

func TestPrivateServer(t *testing.T) {
	testserver.Postgres(t) // or skip
	code, out, err := call(t.Context())
	if code != 0 || err != "" {
		t.Fatalf("exit %d: %s", code, err)
	}
	for _, want := range []string{"360 orders, 950 lines", "started for this run: 1310 rows by copy in one transaction", "SO-10360"} {
		if !strings.Contains(out, want) {
			t.Errorf("the output does not tell %q:\n%s", want, out)
		}
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
	for method := range methods {
		t.Run(method, func(t *testing.T) {
			dsn := database(t, "pgxload_"+method)
			var text strings.Builder
			text.WriteString(csvHead)
			for i := range 50 {
				for range 3 {
					fmt.Fprintf(&text, "SO-%d,2026-11-21T08:00:00Z,\"Ada, Countess\",ada@example.com,A,A,1,0.05\n", i)
				}
			}
			in := write(t, text.String())
			if code, out, err := call(t.Context(), "-dsn", dsn, "-in", in, "-method", method); code != 0 || !strings.Contains(out, "200 rows by "+method) {
				t.Fatalf("exit %d, %s%s", code, out, err)
			}
			for what, bad := range map[string]struct{ text, want string }{
				"again": {text.String(), `in.csv:2: order "SO-0": `},
				"NUL":   {csvHead + "X-1,2026-11-21T08:00:00Z,A,a,A,A,1,0.05\nX-2,2026-11-21T08:00:00Z,A,a,A,A\x00A,1,0.05\n", `in.csv:3: order "X-2": `},
				"one twice": {csvHead + "X-1,2026-11-21T08:00:00Z,A,a,A,A,1,0.05\nX-2,2026-11-21T08:00:00Z,A,a,A,A,1,0.05\nX-1,2026-11-21T08:00:00Z,A,a,A,A,1,0.05\n",
					`in.csv:4: order "X-1": `},
			} {
				code, _, err := call(t.Context(), "-dsn", dsn, "-in", write(t, bad.text), "-method", method)
				if code != 1 || strings.Count(err, "\n") != 1 || !strings.Contains(err, bad.want) || !strings.Contains(err, "nothing was written") {
					t.Errorf("%s: exit %d, %s", what, code, err)
				}
			}
			if orders, lines := count(t, dsn); orders != 50 || lines != 150 {
				t.Errorf("%d orders, %d lines", orders, lines)
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if code, _, err := call(ctx, "-dsn", dsn, "-in", in); code != 1 || strings.Count(err, "\n") != 1 {
				t.Errorf("interrupted: exit %d, %s", code, err)
			}
		})
	}
}

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
		for conn := range open { // whoever has left it so
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
	code, _, err := call(ctx, "-dsn", strings.Replace(dsn, addr, heldAtCommit(t, addr, cancel), 1))
	if code != 1 || strings.Contains(err, "nothing was written") || !strings.Contains(err, "may have been written, or nothing: look in pgxload_orders for id ") || strings.Count(err, "\n") != 1 {
		t.Errorf("exit %d, %s", code, err)
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
	if _, err := pool.Exec(t.Context(), schema); err != nil {
		t.Fatal(err)
	}
	const row = "SO-%d,2026-11-21T08:00:00Z,Ada,ada@example.com,A,A,1,0.05\n"
	short := csvHead + fmt.Sprintf(row+row, 1, 2)
	long := short + fmt.Sprintf(row, 3)
	for _, c := range []struct{ counted, read, want string }{
		{long, short, "in.csv: the file has shrunk since it was counted: 2 rows are missing"},
		{short, long, "in.csv:4: the file has grown"},
		{long, csvHead, "has shrunk since it was counted: 6 rows"},
	} {
		t.Run(c.want, func(t *testing.T) {
			texts := []string{c.counted, c.read}
			in := input{name: "in.csv", open: func() (io.ReadCloser, error) {
				text := texts[0]
				texts = texts[1:]
				return io.NopCloser(strings.NewReader(text)), nil
			}}
			orders, lines, err := in.count()
			if err != nil {
				t.Fatal(err)
			}
			ids := make([]int64, orders+lines)
			for i := range ids {
				ids[i] = int64(i + 1)
			}
			if _, err := load(t.Context(), pool, in, ids, pgxtype.Copy, func(int64) {}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if orders, lines := count(t, dsn); orders != 0 || lines != 0 {
				t.Errorf("%d orders, %d lines", orders, lines)
			}
		})
	}
}

func TestBadInput(t *testing.T) {
	const good = "SO-1,2026-11-21T08:00:00Z,Ada,ada@example.com,A,A,1,0.05\n"
	for _, c := range []struct{ text, want string }{
		{"", "in.csv: empty"},
		{csvHead, "in.csv: no orders"},
		{"a,b,c,d,e,f,g,h\n", "in.csv:1: the columns are"},
		{"a,b\n", "in.csv:1: wrong number of fields"},
		{csvHead + good + "SO-1,x\n", "in.csv:3: wrong number of fields"},
		{csvHead + strings.Replace(good, "Ada", "", 1), `in.csv:2:27: customer "": want a value`},
		{csvHead + strings.Replace(good, "2026-11-21T08:00:00Z", "yesterday", 1), `in.csv:2:6: placed_at "yesterday": want a time`},
		{csvHead + strings.Replace(good, ",1,", ",0,", 1), `quantity "0": want a whole number`},
		{csvHead + strings.Replace(good, "0.05", "5 cents", 1), `unit_price "5 cents": want an amount`},
	} {
		t.Run(c.want, func(t *testing.T) {
			if code, out, err := call(t.Context(), "-in", write(t, c.text), "-dsn", "postgres://127.0.0.1:1/x"); code != 1 || out != "" || !strings.Contains(err, c.want) || strings.Count(err, "\n") != 1 {
				t.Errorf("%q: exit %d, %s%s; want %q", c.text, code, out, err, c.want)
			}
		})
	}
}

func TestBadArguments(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"-in", "/no/such/file.csv"}, 1, "/no/such/file.csv: no such file"},
		{[]string{"-in", t.TempDir()}, 1, "is a directory"},
		{[]string{"-dsn", "postgres://u:secret@127.0.0.1:1/x?connect_timeout=2"}, 1, "-dsn: "},
		{[]string{"-dsn", "postgres://u:secret@127.0.0.1:port/x"}, 1, "-dsn: "},
		{[]string{"-worker", "1024"}, 1, "-worker 1024: core: Worker 1024"},
		{[]string{"-method", "insert"}, 2, `-method "insert": want copy or unnest`},
		{[]string{"-nonsense"}, 2, "-nonsense"},
		{[]string{"orders.csv"}, 2, `unexpected argument "orders.csv"`},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			code, _, err := call(t.Context(), c.args...)
			if code != c.code || strings.Count(err, "\n") != 1 || !strings.Contains(err, c.want) || strings.Contains(err, "secret") {
				t.Errorf("%q: exit %d, %q; want exit %d and %q", c.args, code, err, c.code, c.want)
			}
		})
	}
	if code, out, err := call(t.Context(), "-h"); code != 0 || err != "" || !strings.Contains(out, "usage:") {
		t.Errorf("-h: exit %d, %q", code, err)
	}
}
