package filestore_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/worker/driver"
	"github.com/seed-299c1d6b/snowkey/worker/filestore"
)

// No call outlasts its context on a disk that hangs: here a record is a pipe without a
// writer.
func TestHungDisk(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "s"), 0o750); err != nil {
		t.Fatal(err)
	}
	pipe := filepath.Join(dir, "s", "0.json")
	if err := syscall.Mkfifo(pipe, 0o640); err != nil {
		t.Fatal(err)
	}
	store := mustNew(filestore.New(filestore.Config{Dir: dir}))
	defer store.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	answers := make(chan error)
	calls := []func() error{
		func() error {
			_, err := store.Claim(ctx, driver.Request{
				Namespace: "s", Layout: "l", WorkerIDs: 4, Preferred: -1, Exclude: -1, ClaimID: "t",
				Now: time.Now().UnixMilli(), FenceWindow: 1000, TTL: 1000, MaxSkew: 1 << 40, MaxLead: 1 << 40,
			})
			return err
		},
		func() error {
			return store.Renew(ctx, driver.Renewal{Namespace: "s", FencingToken: 1, ClaimID: "t", Fence: 1, TTL: 1})
		},
		func() error {
			return store.Release(ctx, driver.Return{Namespace: "s", FencingToken: 1, ClaimID: "t", Fence: 1})
		},
		func() error { _, err := store.List(ctx, "s"); return err },
		func() error { return store.Free(ctx, "s", 0, 1) },
	}
	for _, call := range calls {
		go func() { answers <- call() }()
	}
	for range calls {
		select {
		case err := <-answers:
			if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), filepath.Join(dir, "s")) {
				t.Error(err)
			}
		case <-time.After(ample):
			t.Fatal("a call has not returned")
		}
	}
	f, err := os.OpenFile(pipe, os.O_RDWR, 0) // ends those that read
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := os.Remove(pipe); err != nil {
		t.Fatal(err)
	}
}
