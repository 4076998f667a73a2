package serial

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/worker"
	"github.com/seed-299c1d6b/snowkey/worker/sqlstore"
)

type span struct{ first, n int64 }

// whole returns how many numbers the blocks have. It fails the test unless they cover all
// numbers from 1 without gaps or overlaps.
func whole(t *testing.T, spans []span) (last int64) {
	t.Helper()
	slices.SortFunc(spans, func(a, b span) int { return int(a.first - b.first) })
	for _, s := range spans {
		if s.first != last+1 {
			t.Fatalf("a span begins with %d, the one before ends with %d", s.first, last)
		}
		last += s.n
	}
	return last
}

// Many handles, like those of separate processes, begin at once on an empty database: every
// number is issued once, and none is skipped.
func TestReserve(t *testing.T) {
	const handles, goroutines, each = 4, 3, 20
	onEvery(t, func(t *testing.T, e engine) {
		key := "20261121:" + code()
		var mu sync.Mutex
		var spans []span
		var wg sync.WaitGroup
		for range handles {
			c := e.counter(t)
			for range goroutines {
				wg.Go(func() {
					for range each {
						n := 1 + rand.Int64N(50)
						first, err := c.Reserve(t.Context(), key, n)
						if err != nil {
							t.Error(err)
							return
						}
						mu.Lock()
						spans = append(spans, span{first, n})
						mu.Unlock()
					}
				})
			}
		}
		wg.Wait()
		if t.Failed() {
			return
		}
		last := whole(t, spans)
		c := e.counter(t)
		if first, err := c.Reserve(t.Context(), key, 7); err != nil || first != last+1 {
			t.Errorf("%d, %v; want %d", first, err, last+1)
		}
		if first, err := c.Reserve(t.Context(), strings.ToLower(key), 1); err != nil || first != 1 {
			t.Errorf("a key in lower case continues with %d, %v", first, err)
		}
		for _, bad := range []struct {
			key string
			n   int64
		}{{key, 0}, {key, -1}, {key, math.MaxInt64}, {"", 1}, {"a b", 1}} {
			var config *core.ConfigError
			if first, err := c.Reserve(t.Context(), bad.key, bad.n); !errors.As(err, &config) || first != 0 {
				t.Errorf("%+v: %d, %v", bad, first, err)
			}
		}
	})
}

// At the end of 64 bits a counter stops with an error.
func TestOverflow(t *testing.T) {
	onEvery(t, func(t *testing.T, e engine) {
		key, c := code(), e.counter(t)
		if _, err := c.Reserve(t.Context(), key, 1); err != nil {
			t.Fatal(err)
		}
		if e.behind != nil {
			e = *e.behind
		}
		switch near := fmt.Sprint(int64(math.MaxInt64 - 5)); e.driver {
		case "redis":
			must(t, client(t, e.dsn).Set(t.Context(), "snowkey:counter:{"+key+"}", near, 0).Err())
		case "etcd":
			client, err := clientv3.New(clientv3.Config{Endpoints: strings.Split(e.dsn, ",")})
			must(t, err)
			defer client.Close()
			_, err = client.Put(t.Context(), "snowkey#counter#"+key, near)
			must(t, err)
		default:
			_, err := openCommitting(t, e).Exec("UPDATE snow_counter SET value = " + near + " WHERE name = '" + key + "'")
			must(t, err)
		}
		for range 2 {
			if first, err := c.Reserve(t.Context(), key, 6); err == nil {
				t.Errorf("%d", first)
			}
		}
		if first, err := c.Reserve(t.Context(), key, 5); err != nil || first != math.MaxInt64-4 {
			t.Errorf("%d, %v", first, err)
		}
		if first, err := c.Reserve(t.Context(), key, 1); err == nil {
			t.Errorf("%d", first)
		}
	})
}

// A store that may lose an acknowledged write is refused.
func TestLossy(t *testing.T) {
	var lossy *worker.DurabilityError
	memory := open(t, "sqlite", ":memory:")
	memory.SetMaxOpenConns(1)
	if first, err := mustNew(sqlstore.New(memory, sqlstore.Config{})).Reserve(t.Context(), "a", 1); !errors.As(err, &lossy) || first != 0 {
		t.Errorf("%d, %v", first, err)
	}
	if err := mustNew(sqlstore.New(memory, sqlstore.Config{})).PrepareCounters(t.Context()); !errors.As(err, &lossy) {
		t.Error(err)
	}
}
