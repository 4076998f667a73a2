package encoding

import (
	"context"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/seed-299c1d6b/snowkey/internal/testserver"
)

// go-redis takes no type of its caller's but with a binary form, which an ID has
// not: it says so, and the number and the text go in.
func TestGoRedis(t *testing.T) {
	client := redis.NewClient(&redis.Options{Addr: testserver.Redis(t).DSN})
	defer client.Close()
	ctx, id := t.Context(), ID(1996573624012345677)
	key := "snowkey:" + t.Name() + ":" + id.String()
	defer client.Del(context.WithoutCancel(ctx), key)

	for _, v := range []any{id, &id, Key(7)} {
		if err := client.Set(ctx, key, v, 0).Err(); err == nil || !strings.Contains(err.Error(), "can't marshal") {
			t.Errorf("%T: %v", v, err)
		}
	}
	for _, v := range []any{id.Int64(), id.String()} {
		if err := client.Set(ctx, key, v, 0).Err(); err != nil {
			t.Fatal(err)
		}
		n, err := client.Get(ctx, key).Int64()
		if err != nil || ID(n) != id {
			t.Errorf("%T: read as a number: %d, %v", v, n, err)
		}
		var back ID
		if err := back.UnmarshalText([]byte(client.Get(ctx, key).Val())); err != nil || back != id {
			t.Errorf("%T: read as a text: %d, %v", v, back, err)
		}
	}
	if err := client.Del(ctx, key).Err(); err != nil {
		t.Fatal(err)
	}
	// A hash is read into a struct without help.
	if err := client.HSet(ctx, key, "id", id.Int64(), "parent", "8", "key", Key(7).String()).Err(); err != nil {
		t.Fatal(err)
	}
	var row struct {
		ID     ID     `redis:"id"`
		Parent NullID `redis:"parent"`
		Key    Key    `redis:"key"`
	}
	if err := client.HGetAll(ctx, key).Scan(&row); err != nil || row.ID != id || row.Parent != (NullID{ID: 8, Valid: true}) || row.Key != 7 {
		t.Errorf("%+v, %v", row, err)
	}
	if err := client.HSet(ctx, key, "id", "007").Err(); err != nil {
		t.Fatal(err)
	}
	if err := client.HGetAll(ctx, key).Scan(&row); err == nil || !strings.Contains(err.Error(), `"007"`) || row.ID != id {
		t.Errorf("%+v, %v", row, err)
	}
}
