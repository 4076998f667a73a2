package cli

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// migratingProcess is a process that migrates, and where it is.
type migratingProcess struct {
	cmd  *exec.Cmd
	says chan string // a line
	err  bytes.Buffer
}

func startMigration(t *testing.T, args ...string) *migratingProcess {
	t.Helper()
	p := &migratingProcess{cmd: program(t, args...), says: make(chan string, 1000)}
	pipe, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.says)
		lines := bufio.NewScanner(pipe)
		for lines.Scan() {
			p.says <- lines.Text()
		}
	}()
	return p
}

// until reads up to a line that begins with a text, or to the end.
func (p *migratingProcess) until(t *testing.T, start string) {
	t.Helper()
	deadline := time.After(endless)
	for {
		select {
		case line, more := <-p.says:
			if !more {
				if start != "" {
					t.Fatalf("it ended before %q: %s", start, p.err.String())
				}
				return
			}
			fmt.Fprintln(&p.err, line)
			if start != "" && strings.HasPrefix(line, start) {
				return
			}
		case <-deadline:
			t.Fatalf("no %q: %s", start, p.err.String())
		}
	}
}

func (p *migratingProcess) end(t *testing.T) (code int, said string) {
	t.Helper()
	p.until(t, "")
	_ = p.cmd.Wait()
	return p.cmd.ProcessState.ExitCode(), p.err.String()
}

// SIGINT and SIGTERM end a migration while it fills, and while it waits for a lock. The same command
// continues, also while there is what the step was waiting for.
func TestMigrateInterrupted(t *testing.T) {
	dsn := testserver.Database(t, "pgx", testserver.Postgres(t).DSN)
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, statement := range []string{
		"CREATE TABLE orders (id serial PRIMARY KEY, parent int REFERENCES orders, note text) WITH (autovacuum_enabled = false)",
		"INSERT INTO orders (note) SELECT 'old' FROM generate_series(1, 1000)",
	} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	if got := run(t, "migrate", "bigint", "--dsn", dsn, "--table", "orders", "--apply", "--stop-before", "fill"); got.code != 0 {
		t.Fatal(got.err)
	}
	for i, s := range []struct{ step, blocker, next string }{
		{"fill", "SELECT FROM orders FOR UPDATE", "swap"}, {"swap", "SELECT FROM orders", "finish"}, {"finish", "SELECT FROM orders", ""},
	} {
		tx, err := db.BeginTx(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec(s.blocker); err != nil {
			t.Fatalf("%s: %v", s.blocker, err)
		}
		args := []string{"migrate", "bigint", "--dsn", dsn, "--table", "orders", "--apply", "--stop-before", s.next}
		if s.next == "" {
			args = append(args[:6], "--apply", "--finish")
		}
		signal := []os.Signal{syscall.SIGINT, syscall.SIGTERM}[i%2]
		p := startMigration(t, args...)
		p.until(t, s.step+" public.orders")
		time.Sleep(400 * time.Millisecond) // it waits for the transaction, or between two attempts
		begun := time.Now()
		if err := p.cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		if code, said := p.end(t); code != 1 || !strings.Contains(said, "run it again to continue") || time.Since(begun) > 30*time.Second {
			t.Errorf("%v in %s: exit code %d after %v, %s", signal, s.step, code, time.Since(begun), said)
		}
		p = startMigration(t, args...)
		p.until(t, s.step+" public.orders")
		_ = tx.Rollback()
		if code, said := p.end(t); code != 0 {
			t.Fatalf("after %v in %s: exit code %d, %s", signal, s.step, code, said)
		}
	}
	var left int
	if err := db.QueryRow("SELECT (SELECT count(*) FROM pg_class WHERE relname LIKE 'snow\\_migrate%' AND relname <> 'snow_migrate_key_orders') + (SELECT count(*) FROM pg_proc WHERE proname LIKE 'snow\\_migrate%')").Scan(&left); err != nil || left > 0 {
		t.Errorf("%d objects of ours, %v", left, err)
	}
}
