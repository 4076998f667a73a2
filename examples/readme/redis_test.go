package readme

import (
	"context"
	"errors"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/worker"
)

// A Redis that may lose what it has acknowledged is refused, and a durable one leases.
func TestOpenRedis(t *testing.T) {
	client := redis.NewClient(&redis.Options{Addr: testserver.NewRedis(t).DSN})
	defer client.Close()
	var lossy *worker.DurabilityError
	if _, err := openRedis(t.Context(), client); !errors.As(err, &lossy) || lossy.Setting != "appendfsync" {
		t.Errorf("without appendfsync always: %v", err)
	}
	if err := client.ConfigSet(t.Context(), "appendfsync", "always").Err(); err != nil {
		t.Fatal(err)
	}
	gen, err := openRedis(t.Context(), client)
	if err != nil {
		t.Fatal(err)
	}
	defer gen.Close(context.Background())
	if id, err := gen.Next(t.Context()); err != nil || id <= 0 {
		t.Errorf("%d, %v", id, err)
	}
}
