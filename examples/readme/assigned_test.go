package readme

import (
	"context"
	"errors"
	"testing"

	"github.com/seed-299c1d6b/snowkey/worker"
)

func TestAssigned(t *testing.T) {
	t.Setenv("WORKER", "7")
	t.Setenv("DATACENTER", "1")
	dir := t.TempDir()
	lease, err := assigned(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if lease.Worker() != 1<<5|7 {
		t.Errorf("worker ID %d", lease.Worker())
	}
	if _, err := assigned(t.Context(), dir); !errors.Is(err, worker.ErrNoWorkerID) {
		t.Errorf("a second holder: %v", err)
	}
	if err := lease.Close(context.Background()); err != nil {
		t.Error(err)
	}
}
