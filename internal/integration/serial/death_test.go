package serial

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-299c1d6b/snowkey/core"
	"github.com/seed-299c1d6b/snowkey/internal/testserver"
	"github.com/seed-299c1d6b/snowkey/serial"
)

// The server dies again and again while numbers are drawn. No number is issued twice. A lost
// answer skips its block: one for each error.
func TestServerDies(t *testing.T) {
	for driver, start := range map[string]func(testing.TB) *testserver.Server{
		"pgx": testserver.NewPostgres, "mysql": testserver.NewMariaDB, "redis": testserver.NewRedis,
	} {
		t.Run(driver, func(t *testing.T) {
			server := start(t)
			e := engine{driver: driver, dsn: server.DSN}
			if driver == "redis" { // syncs every write
				must(t, client(t, e.dsn).ConfigSet(t.Context(), "appendfsync", "always").Err())
			} else {
				e.dsn = testserver.Database(t, driver, server.DSN)
			}
			ride(t, server, e)
		})
	}
}

func ride(t *testing.T, server *testserver.Server, e engine) {
	const handles, goroutines, block, deaths = 3, 2, 5, 2
	var mu sync.Mutex
	seen := map[string]bool{}
	var given, failed atomic.Int64
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range handles {
		cfg := numbering(e.counter(t), "dies", block)
		cfg.Digits = 12 // Redis issues a million numbers while its restart is awaited
		n, err := serial.NewNumbers(cfg)
		must(t, err)
		for range goroutines {
			wg.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
					s, err := n.Next(ctx)
					cancel()
					if err != nil {
						failed.Add(1)
						var config *core.ConfigError
						if errors.As(err, &config) {
							t.Error(err)
						}
						time.Sleep(5 * time.Millisecond) // the server is down: no rush
						continue
					}
					mu.Lock()
					if seen[s] {
						t.Errorf("%s a second time", s)
					}
					seen[s] = true
					mu.Unlock()
					given.Add(1)
				}
			})
		}
	}
	await := func(what string, done func() bool) {
		t.Helper()
		for began := time.Now(); !done(); time.Sleep(time.Millisecond) {
			if time.Since(began) > patience {
				t.Fatalf("%s did not come: %d given, %d failed", what, given.Load(), failed.Load())
			}
		}
	}
	func() {
		defer func() { close(stop); wg.Wait() }()
		for range deaths {
			had := given.Load()
			await("a number", func() bool { return given.Load() > had+100 })
			before := failed.Load()
			must(t, server.Kill())
			await("an error", func() bool { return failed.Load() > before })
			must(t, server.Start())
		}
		had := given.Load()
		await("a number after all", func() bool { return given.Load() > had+100 })
	}()
	if t.Failed() {
		return
	}
	first, err := e.counter(t).Reserve(t.Context(), "20261121:dies", 1)
	must(t, err)
	skipped := first - 1 - given.Load()
	if limit := failed.Load()*block + handles*(block-1); skipped < 0 || skipped > limit {
		t.Errorf("%d given, %d skipped, at most %d may be", given.Load(), skipped, limit)
	}
	t.Logf("%d given, %d errors, %d skipped", given.Load(), failed.Load(), skipped)
}
