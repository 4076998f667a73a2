//go:build unix

package testserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// deathVar sets how a second run of the test binary ends.
const deathVar = "SNOWKEY_TEST_DEATH"

// leftBehind is what the dying binary leaves behind.
type leftBehind struct {
	Home string
	Pids map[int]string // and when each was born
}

// TestHelperDies is the body of the binary that dies.
func TestHelperDies(t *testing.T) {
	how := os.Getenv(deathVar)
	if how == "" {
		return // TestDeath runs it, in its own process
	}
	for kind := range engines() { // a DSN of the caller is of no use here
		t.Setenv(engines()[kind].dsnVar, "")
	}
	private := NewRedis(t)
	servers := []*Server{Postgres(t), MariaDB(t), Redis(t), Etcd(t), private, NewPgBouncer(t, Postgres(t))}
	if err := errors.Join(servers[0].Restart(), private.Kill(), private.Start()); err != nil {
		t.Fatal(err)
	}
	will := leftBehind{Home: filepath.Dir(private.dir), Pids: map[int]string{}}
	for _, s := range servers {
		if how == "paused" {
			if err := s.Pause(); err != nil {
				t.Fatal(err)
			}
		}
		for _, p := range mustFamily(t, s) {
			will.Pids[p.pid] = p.born
		}
	}
	if err := json.NewEncoder(os.Stderr).Encode(will); err != nil {
		t.Fatal(err)
	}
	switch how {
	case "exit":
		os.Exit(7)
	case "panic":
		done := make(chan bool)
		go func() { defer close(done); panic("on purpose") }()
		<-done
	case "return":
	default:
		select {} // until the signal comes
	}
}

// TestDeath lets a test binary die in every way and looks for what it leaves.
func TestDeath(t *testing.T) {
	slow(t)
	for _, e := range engines() {
		if _, _, err := e.find(); err != nil {
			skipOrFail(t, err)
		}
	}
	stranger := NewRedis(t) // of another binary, as far as those that die know
	for _, how := range []string{"return", "exit", "panic", "terminated", "killed", "paused"} {
		t.Run(how, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute) // it starts six servers
			defer cancel()
			cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestHelperDies$")
			cmd.Env = append(os.Environ(), deathVar+"="+how)
			stderr, err := cmd.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			var will leftBehind
			if err := json.NewDecoder(stderr).Decode(&will); err != nil {
				t.Fatalf("no leftBehind: %v", errors.Join(err, cmd.Process.Kill(), cmd.Wait()))
			}
			switch how {
			case "terminated":
				err = cmd.Process.Signal(syscall.SIGTERM)
			case "killed", "paused":
				err = cmd.Process.Kill()
			}
			if err != nil {
				t.Error(err)
			}
			_ = cmd.Wait() // each ends with another status
			died := time.Now()
			if len(will.Pids) < 10 { // PostgreSQL has five at least
				t.Errorf("only %d processes", len(will.Pids))
			}
			Eventually(t, patience, func() error {
				table, err := processes()
				if err != nil {
					return err
				}
				for _, p := range table {
					if born, ok := will.Pids[p.pid]; ok && born == p.born {
						return fmt.Errorf("process %d runs", p.pid)
					}
				}
				if _, err := os.Stat(will.Home); !errors.Is(err, os.ErrNotExist) {
					return fmt.Errorf("%s is there: %v", will.Home, err)
				}
				return nil
			})
			if !stranger.running() {
				t.Error("the server of another binary was ended")
			}
			t.Logf("nothing is left %v after the end", time.Since(died).Round(time.Millisecond))
		})
	}
}
