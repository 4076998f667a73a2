package filestore_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/filestore"
	"github.com/seed-299c1d6b/snowkey/worker/storetest"
)

const (
	ample = 3 * time.Minute        // for what must come, on a machine that is busy
	short = 500 * time.Millisecond // for what cannot
)

// In its own process the test binary is a program that holds a worker ID until it
// is killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv("SNOWKEY_TEST_HOLD"); dir != "" {
		hold(dir)
	}
	os.Exit(m.Run())
}

func hold(dir string) {
	lease, err := worker.Acquire(context.Background(), mustNew(filestore.New(filestore.Config{Dir: dir})), worker.Config{Preferred: ref(int64(7)), RequirePreferred: true, MaxWait: -1})
	if err == nil {
		var gen *core.Generator
		if gen, err = core.New(core.Config{Worker: lease}); err == nil {
			var id int64
			id, err = gen.Next(context.Background())
			fmt.Println(id)
		}
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	_, _ = io.Copy(io.Discard, os.Stdin) // until the test ends, if it does not kill it
	os.Exit(0)
}

func open(t *testing.T, dir string) *filestore.Store {
	store := mustNew(filestore.New(filestore.Config{Dir: dir}))
	t.Cleanup(func() { _ = store.Close() })
	return store
}

func TestStore(t *testing.T) {
	dir := t.TempDir()
	storetest.Run(t, storetest.Harness{
		Open: func(t *testing.T) driver.Store { return open(t, dir) },
		Crash: func(t *testing.T, s driver.Store) {
			if err := s.(*filestore.Store).Close(); err != nil {
				t.Error(err)
			}
		},
	})
}

// A directory lists 10 before 2.
func TestListIsOrdered(t *testing.T) {
	store := open(t, t.TempDir())
	for id := range int64(11) {
		lease, err := worker.Acquire(t.Context(), store, worker.Config{Preferred: &id, RequirePreferred: true})
		if err != nil {
			t.Fatal(err)
		}
		defer lease.Close()
	}
	records, err := store.List(t.Context(), "default")
	if err != nil || len(records) != 11 {
		t.Fatalf("%+v, %v", records, err)
	}
	for i, rec := range records {
		if rec.Worker != int64(i) {
			t.Errorf("record %d is that of worker ID %d", i, rec.Worker)
		}
	}
}

// A process that is killed holds its worker ID to its end and no longer; the next
// begins at its fence, and so above its ids, whatever the clock says.
func TestProcessIsKilled(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), ample)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), "SNOWKEY_TEST_HOLD="+dir)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill() }()
	line, err := bufio.NewReader(out).ReadString('\n')
	var id int64
	if _, scanErr := fmt.Sscan(line, &id); err != nil || scanErr != nil {
		t.Fatalf("%q, %v", line, err)
	}
	ago := func() time.Time { return time.Now().Add(-5 * time.Second) }
	cfg := worker.Config{Preferred: ref(int64(7)), RequirePreferred: true, MaxWait: -1, Now: ago}
	if _, err := worker.Acquire(t.Context(), open(t, dir), cfg); !errors.Is(err, driver.ErrNoWorkerID) {
		t.Fatalf("while it lives: %v", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	lease, err := worker.Acquire(t.Context(), open(t, dir), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer lease.Close()
	gen, err := core.New(core.Config{Worker: lease, Now: ago})
	if err != nil {
		t.Fatal(err)
	}
	defer gen.Close()
	if next, err := gen.Next(t.Context()); err != nil || next <= id {
		t.Errorf("%d after %d, %v", next, id, err)
	}
}

func TestAssigned(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("SNOWKEY_TEST_WORKER", "0")
	n, err := worker.FromEnv(core.Layout{}, "SNOWKEY_TEST_WORKER", "")
	if err != nil {
		t.Fatal(err)
	}
	lease, err := worker.Acquire(t.Context(), open(t, dir), worker.Config{Preferred: &n, RequirePreferred: true})
	if err != nil {
		t.Fatal(err)
	}
	if lease.Worker() != 0 {
		t.Errorf("number %d", lease.Worker())
	}
	if _, err := worker.Acquire(t.Context(), open(t, dir), worker.Config{Preferred: &n, RequirePreferred: true, MaxWait: -1}); !errors.Is(err, driver.ErrNoWorkerID) {
		t.Errorf("a second process: %v", err)
	}
	if err := lease.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := worker.Acquire(t.Context(), open(t, dir), worker.Config{Preferred: &n, RequirePreferred: true})
	if err != nil {
		t.Fatal(err)
	}
	_ = again.Close()
}

// An assigned worker ID has a durable fence: a restart with a clock that went back continues above
// what was issued, and a second process is refused.
func TestAssignedAfterARestart(t *testing.T) {
	dir := t.TempDir()
	var last int64
	for i, back := range []time.Duration{0, 5 * time.Second, 9 * time.Second} {
		now := func() time.Time { return time.Now().Add(-back) }
		lease, err := worker.Acquire(t.Context(), open(t, dir), worker.Config{Preferred: ref(int64(3)), RequirePreferred: true, Now: now, MaxSkew: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := worker.Acquire(t.Context(), open(t, dir), worker.Config{Preferred: ref(int64(3)), RequirePreferred: true, MaxWait: -1}); !errors.Is(err, driver.ErrNoWorkerID) {
			t.Errorf("a second process: %v", err)
		}
		gen, err := core.New(core.Config{Worker: lease, Now: now})
		if err != nil {
			t.Fatal(err)
		}
		id, err := gen.Next(t.Context())
		if p, _ := gen.Layout().Decode(id); err != nil || id <= last || p.Worker != 3 {
			t.Errorf("start %d: %d after %d, of %+v, %v", i, id, last, p, err)
		}
		last = id
		if err := lease.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := worker.Acquire(t.Context(), open(t, dir), worker.Config{Preferred: ref(int64(1024)), RequirePreferred: true}); err == nil || !strings.Contains(err.Error(), "1024: must be") {
		t.Errorf("%v", err)
	}
}

// What cannot be read is an error; nothing is guessed or overwritten.
func TestDamage(t *testing.T) {
	for name, content := range map[string]string{"empty": "", "cut": `{"epoch":1,"tok`, "no epoch": "{}", "text": "hello",
		"epoch 0": `{"epoch":0,"token":"","owner":"","until_ts":5,"expires_at":0}`, "no bound": `{"epoch":3,"token":""}`, "null": `{"epoch":3,"token":"","until_ts":null}`,
		"no token": `{"epoch":3,"until_ts":5}`, "another field": `{"epoch":3,"token":"","until_ts":5,"until":7}`, "two": `{"epoch":3,"token":"","until_ts":5}{}`} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			lease, err := worker.Acquire(t.Context(), open(t, dir), worker.Config{})
			if err != nil {
				t.Fatal(err)
			}
			if err := lease.Close(); err != nil {
				t.Fatal(err)
			}
			row := filepath.Join(dir, "default", "0.json")
			if err := os.WriteFile(row, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err = worker.Acquire(t.Context(), open(t, dir), worker.Config{MaxWait: -1})
			if err == nil || !strings.Contains(err.Error(), row+" is damaged") || strings.Contains(err.Error(), "%!") {
				t.Errorf("%s: %v", name, err)
			}
			if now, _ := os.ReadFile(row); string(now) != content {
				t.Errorf("%s: overwritten by %q", name, now)
			}
		})
	}
}

// What a crash between writing and renaming leaves does no harm.
func TestLeftOver(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "default"), 0o750); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"lock.new", "0.lock.new"} {
		if err := os.WriteFile(filepath.Join(dir, "default", name), []byte(strings.Repeat("x", 4096)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	lease, err := worker.Acquire(t.Context(), open(t, dir), worker.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := lease.Close(); err != nil {
		t.Error(err)
	}
}

func TestDirectories(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{
		filepath.Join(file, "below"):      "not a directory",
		filepath.Join(t.TempDir(), "a/b"): "no such file",
	} {
		t.Run(want, func(t *testing.T) {
			_, err := worker.Acquire(t.Context(), open(t, dir), worker.Config{MaxWait: -1})
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v", dir, err)
			}
		})
	}
	var config *core.ConfigError
	if _, err := filestore.New(filestore.Config{}); !errors.As(err, &config) || err.Error() != `filestore: Dir "": must be a directory on a local disk` {
		t.Error(err)
	}
	store := open(t, t.TempDir())
	_ = store.Close()
	if _, err := worker.Acquire(t.Context(), store, worker.Config{MaxWait: -1}); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("%v", err)
	}
}

// The files are removed under a lease: ids continue up to the fence and no further, and
// nothing is claimed where nothing is recorded.
func TestFilesAreRemoved(t *testing.T) {
	for name, remove := range map[string]func(dir string) error{
		"directory":     os.RemoveAll,
		"space":         func(dir string) error { return os.RemoveAll(filepath.Join(dir, "default")) },
		"row":           func(dir string) error { return os.Remove(filepath.Join(dir, "default", "0.json")) },
		"to an old row": func(dir string) error { return write(filepath.Join(dir, "default", "0.json"), oldRow) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "leases")
			store := open(t, dir)
			cfg := worker.Config{FenceWindow: 300 * time.Millisecond, Preferred: ref(int64(0)), RequirePreferred: true, Timeout: ample, MaxWait: -1}
			first, err := worker.Acquire(t.Context(), store, cfg)
			if err != nil {
				t.Fatal(err)
			}
			if err := first.Close(); err != nil {
				t.Fatal(err)
			}
			lease, err := worker.Acquire(t.Context(), store, cfg)
			if err != nil {
				t.Fatal(err)
			}
			gen, err := core.New(core.Config{Worker: lease, MaxWait: 20 * time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			defer gen.Close()
			for deadline := time.Now().Add(ample); ; time.Sleep(time.Millisecond) {
				err := remove(dir)
				if err == nil {
					break
				}
				if time.Now().After(deadline) { // a renewal makes a file meanwhile
					t.Fatal(err)
				}
			}
			for deadline := time.Now().Add(ample); ; time.Sleep(10 * time.Millisecond) {
				// Where this process stood still for a window, there is none either.
				if _, err := gen.Next(t.Context()); err != nil && lease.Stats().Failures > 0 {
					break
				}
				if time.Now().After(deadline) {
					t.Fatalf("IDs are still generated: %+v", lease.Stats())
				}
			}
			if st := lease.Stats(); st.Losses > 0 || st.Claims != 1 || st.Failures == 0 {
				t.Errorf("%+v", st)
			}
			if name == "directory" || name == "space" {
				ctx, cancel := context.WithTimeout(t.Context(), ample) // it fails at once
				defer cancel()
				if _, err := store.Claim(ctx, driver.Request{Namespace: "default", Layout: "l", WorkerIDs: 4, Preferred: -1, Exclude: -1, ClaimID: "t", Owner: "o", Now: time.Now().UnixMilli(), FenceWindow: 1000, TTL: 1000, MaxSkew: 1000, MaxLead: 1000}); err == nil || !strings.Contains(err.Error(), "removed or replaced") {
					t.Errorf("a claim by the same store: %v", err)
				}
				if _, err := os.Stat(filepath.Join(dir, "default")); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("it was made anew: %v", err)
				}
			}
			ctx, cancel := context.WithTimeout(t.Context(), ample)
			defer cancel()
			_ = lease.Release(ctx) // it tries once, and then nothing writes there any more
		})
	}
}

const oldRow = `{"epoch":1,"token":"another","owner":"","until_ts":0,"expires_at":0}`

func write(name, content string) error { return os.WriteFile(name, []byte(content), 0o600) }

// A relative directory stays where it was when the process goes elsewhere.
func TestChangedWorkingDirectory(t *testing.T) {
	home, away := t.TempDir(), t.TempDir()
	t.Chdir(home)
	cfg := worker.Config{FenceWindow: 300 * time.Millisecond, MaxWait: -1, Timeout: ample}
	sibling, err := worker.Acquire(t.Context(), open(t, filepath.Join(home, "leases")), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer sibling.Close()
	daemon, err := worker.Acquire(t.Context(), open(t, "leases"), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer daemon.Close()
	t.Chdir(away)
	number, before := daemon.Worker(), daemon.Stats().Renewals
	for deadline := time.Now().Add(ample); daemon.Stats().Renewals < before+3; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%+v", daemon.Stats())
		}
	}
	if st := daemon.Stats(); daemon.Worker() != number || number == sibling.Worker() || st.Losses > 0 || st.Claims != 1 {
		t.Errorf("numbers %d, then %d, and %d: %+v", number, daemon.Worker(), sibling.Worker(), st)
	}
	if files, err := os.ReadDir(away); err != nil || len(files) > 0 {
		t.Errorf("%v, %v", files, err)
	}
}

// ref returns a pointer to a value.
func ref[T any](v T) *T { return &v }

// mustNew returns a store that New has made.
func mustNew[S any](s S, err error) S {
	if err != nil {
		panic(err)
	}
	return s
}
