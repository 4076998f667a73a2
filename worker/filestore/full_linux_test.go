package filestore_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/filestore"
)

// The disk is full: records stay as they were, ids continue up to the fence and then stop,
// and claims fail. When there is room again, ids resume.
func TestDiskIsFull(t *testing.T) {
	if dir := os.Getenv("SNOWKEY_TEST_FULL_DISK"); dir != "" { // in the process that is started below
		if err := full(t.Context(), dir); err != nil {
			t.Error(err)
		}
		return
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestDiskIsFull$")
	cmd.Env = append(os.Environ(), "SNOWKEY_TEST_FULL_DISK="+t.TempDir())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// full is what that process does. A limit to the size of its files stands for the disk:
// so much of a row is written, and then no more.
func full(ctx context.Context, dir string) error {
	store := mustNew(filestore.New(filestore.Config{Dir: dir}))
	cfg := worker.Config{FenceWindow: 900 * time.Millisecond, Preferred: ref(int64(7)), RequirePreferred: true, MaxWait: -1, Timeout: 30 * time.Second}
	lease, err := worker.Acquire(ctx, store, cfg)
	if err != nil {
		return err
	}
	gen, err := core.New(core.Config{Worker: lease, MaxWait: 20 * time.Millisecond})
	if err != nil {
		return err
	}
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		return err
	}
	signal.Ignore(syscall.SIGXFSZ)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 10, Max: before.Max}); err != nil {
		return err
	}
	last, err := draw(ctx, gen, func(err error) bool { return err != nil && errors.Is(lease.Stats().Failing, syscall.EFBIG) })
	if errors.Is(err, worker.ErrLost) || errors.Is(err, errNothing) {
		return fmt.Errorf("without room: %w", err)
	}
	if st := lease.Stats(); st.Failures == 0 || st.Losses > 0 || st.Claims != 1 {
		return fmt.Errorf("without room: %+v", st)
	}
	other := cfg
	other.Preferred = ref(int64(8))
	if _, err := worker.Acquire(ctx, store, other); !errors.Is(err, syscall.EFBIG) {
		return fmt.Errorf("a claim without room: %w", err)
	}
	rows, err := store.List(ctx, "default")
	if err != nil || len(rows) != 1 || rows[0].Worker != 7 || rows[0].FencingToken != 1 || rows[0].ClaimID == "" {
		return fmt.Errorf("%+v, %w", rows, err)
	}
	if parts, _ := gen.Layout().Decode(last); !parts.Time.Before(time.UnixMilli(rows[0].Fence)) {
		return fmt.Errorf("an id of %v, and the bound is %v", parts.Time, time.UnixMilli(rows[0].Fence))
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		return err
	}
	next, err := draw(ctx, gen, func(err error) bool { return err == nil })
	if err != nil || next <= last {
		return fmt.Errorf("with room again %d after %d, %w", next, last, err)
	}
	return lease.Close()
}

// draw takes ids until enough says so, or for half a minute, and gives the last.
func draw(ctx context.Context, gen *core.Generator, enough func(error) bool) (last int64, err error) {
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		id, err := gen.Next(ctx)
		if err == nil {
			last = id
		}
		if enough(err) {
			return last, err
		}
	}
	return last, errNothing
}

var errNothing = errors.New("nothing has changed in 30s")
