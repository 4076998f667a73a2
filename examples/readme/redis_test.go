package readme

import (
	"context"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// A Redis leases whatever it may lose.
func TestOpenRedis(t *testing.T) {
	client := redis.NewClient(&redis.Options{Addr: testserver.NewRedis(t).DSN})
	defer client.Close()
	gen, err := openRedis(t.Context(), client)
	if err != nil {
		t.Fatal(err)
	}
	defer gen.Close(context.Background())
	if id, err := gen.Next(t.Context()); err != nil || id <= 0 {
		t.Errorf("%d, %v", id, err)
	}
}
