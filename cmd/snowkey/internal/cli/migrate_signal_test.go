package cli

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// process is the command in its own process, whose messages are read.
type process struct {
	*exec.Cmd
	lines *bufio.Scanner
	said  strings.Builder
}

func start(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{Cmd: program(t, args...)}
	pipe, err := p.StderrPipe()
	if err == nil {
		err = p.Start()
	}
	must(t, err)
	p.lines = bufio.NewScanner(pipe)
	return p
}

// until reads up to a line that has a text.
func (p *process) until(t *testing.T, text string) {
	t.Helper()
	for p.lines.Scan() {
		fmt.Fprintln(&p.said, p.lines.Text())
		if strings.Contains(p.lines.Text(), text) {
			return
		}
	}
	t.Fatalf("it ended before %q: %s", text, p.said.String())
}

// end reads the rest of what it says.
func (p *process) end() (code int, said string) {
	for p.lines.Scan() {
		fmt.Fprintln(&p.said, p.lines.Text())
	}
	_ = p.Wait()
	return p.ProcessState.ExitCode(), p.said.String()
}

// SIGINT and SIGTERM end a migration while it fills, and while it waits for a lock. The same command
// continues, also while there is what the step was waiting for.
func TestMigrateInterrupted(t *testing.T) {
	dsn := testserver.Database(t, "pgx", testserver.Postgres(t).DSN)
	db := openDB(t, "pgx", dsn)
	execute(t, db,
		"CREATE TABLE orders (id serial PRIMARY KEY, parent int REFERENCES orders, note text) WITH (autovacuum_enabled = false)",
		"INSERT INTO orders (note) SELECT 'old' FROM generate_series(1, 1000)",
	)
	run(t, "migrate", "bigint", "--dsn", dsn, "--table", "orders", "--apply", "--stop-before", "fill").want(t, 0, "", "")
	until := func(query string) {
		t.Helper()
		for is, end := false, time.Now().Add(time.Minute); !is; time.Sleep(20 * time.Millisecond) {
			must(t, db.QueryRow(query).Scan(&is))
			if time.Now().After(end) {
				t.Fatalf("not in a minute: %s", query)
			}
		}
	}
	for i, s := range []struct{ step, blocker, next string }{
		{"fill", "SELECT FROM orders FOR UPDATE", "swap"}, {"swap", "SELECT FROM orders", "finish"}, {"finish", "SELECT FROM orders", ""},
	} {
		tx, err := db.BeginTx(context.Background(), nil)
		must(t, err)
		if _, err := tx.Exec(s.blocker); err != nil {
			t.Fatalf("%s: %v", s.blocker, err)
		}
		args := []string{"migrate", "bigint", "--dsn", dsn, "--table", "orders", "--apply", "--stop-before", s.next}
		if s.next == "" {
			args = append(args[:6], "--apply", "--finish")
		}
		signal := []os.Signal{syscall.SIGINT, syscall.SIGTERM}[i%2]
		p := start(t, args...)
		p.until(t, s.step+" public.orders")
		// It waits for the transaction, or, in a fill, until it begins again.
		until(`SELECT count(*) > 0 FROM pg_stat_activity WHERE datname = current_database() AND
			(wait_event_type = 'Lock' OR state = 'idle' AND query LIKE 'SELECT (%) OR NOT EXISTS%')`)
		begun := time.Now()
		must(t, p.Process.Signal(signal))
		if code, said := p.end(); code != 1 || !strings.Contains(said, "run it again to continue") || time.Since(begun) > 30*time.Second {
			t.Errorf("%v in %s: exit code %d after %v, %s", signal, s.step, code, time.Since(begun), said)
		}
		// Its session has ended as well.
		until(`SELECT count(*) = 0 FROM pg_locks JOIN pg_database d ON d.oid = database
			WHERE locktype = 'advisory' AND datname = current_database()`)
		p = start(t, args...)
		p.until(t, s.step+" public.orders")
		_ = tx.Rollback()
		if code, said := p.end(); code != 0 {
			t.Fatalf("after %v in %s: exit code %d, %s", signal, s.step, code, said)
		}
	}
	var left int
	if err := db.QueryRow("SELECT (SELECT count(*) FROM pg_class WHERE relname LIKE 'snow\\_migrate%' AND relname <> 'snow_migrate_key_orders') + (SELECT count(*) FROM pg_proc WHERE proname LIKE 'snow\\_migrate%')").Scan(&left); err != nil || left > 0 {
		t.Errorf("%d objects of ours, %v", left, err)
	}
}
