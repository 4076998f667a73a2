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
	db := openSQL(t)
	gen, err := assigned(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	defer gen.Close(context.Background())
	if got := gen.Worker(); got != 1<<5|7 {
		t.Errorf("worker ID %d", got)
	}
	if _, err := assigned(t.Context(), db); !errors.Is(err, worker.ErrNoWorkerID) {
		t.Errorf("a second holder: %v", err)
	}
}
