package outage

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
)

// lockVariable names the file that another process is to lock.
const lockVariable = "SNOWKEY_TEST_OUTAGE_LOCK"

func TestMain(m *testing.M) {
	if file := os.Getenv(lockVariable); file != "" {
		if err := hold(file); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// hold has a file's write lock until the end of the input.
func hold(file string) error {
	db, err := sql.Open("sqlite", "file:"+file+"?_txlock=exclusive&_pragma=busy_timeout(60000)")
	if err != nil {
		return err
	}
	defer db.Close()
	tx, err := db.BeginTx(context.Background(), nil)
	if err != nil {
		return err
	}
	fmt.Println("locked")
	_, err = io.Copy(io.Discard, os.Stdin)
	if rollbackErr := tx.Rollback(); err == nil {
		err = rollbackErr
	}
	return err
}

// A locker is another process, which holds the write lock of an SQLite file.
type locker struct {
	file  string
	cmd   *exec.Cmd
	input io.Closer
}

func (l *locker) lock() error {
	l.cmd = exec.Command(os.Args[0]) // it ends with its input
	l.cmd.Env = append(os.Environ(), lockVariable+"="+l.file)
	l.cmd.Stderr = os.Stderr
	out, err := l.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if l.input, err = l.cmd.StdinPipe(); err != nil {
		return err
	}
	if err := l.cmd.Start(); err != nil {
		return err
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		return fmt.Errorf("the process that locks %s: %q, %w", l.file, line, err)
	}
	return nil
}

// unlock returns at once.
func (l *locker) unlock() error { return l.input.Close() }

func (l *locker) end() {
	if l.input != nil {
		_ = l.input.Close() // a test that has failed meanwhile has not
		_ = l.cmd.Wait()
	}
}
