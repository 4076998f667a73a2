package readme

import (
	"context"

	"github.com/redis/go-redis/v9"

	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/redisstore"
)

func openRedis(ctx context.Context, client *redis.Client) (*worker.Generator, error) {
	eval := func(ctx context.Context, script string, keys []string, args ...any) (any, error) {
		return client.Eval(ctx, script, keys, args...).Result()
	}
	return redisstore.Open(ctx, eval, worker.Config{})
}
